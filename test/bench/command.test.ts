import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.ts";

describe("npm run bench", () => {
  it("a machine without wrk is refused with the command that installs it, and exit code 2", async () => {
    const { code, stderr } = await runChild("bench/run.ts", ["--case", "fresh"], { PATH: "" });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("apt-get install wrk") });
  });

  it.each([
    ["--case", "frehs", "no frehs; there are fresh, duplicates"],
    ["--contender", "nginx", "no nginx; there are bare, prototype, oncehook-sqlite"],
    ["--rounds", "none", 'got "none", expected a whole number from 1'],
  ])("npm run bench refuses %s %s with exit code 2", async (option, value, complaint) => {
    const { code, stderr } = await runChild("bench/run.ts", [option, value]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(complaint) });
  });
});
