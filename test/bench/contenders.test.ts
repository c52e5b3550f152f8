import { afterEach, describe, expect, it, vi } from "vitest";
import { goSqlite } from "../../bench/contenders/go.ts";
import { readOptions } from "../../bench/options.ts";
import { allocatedBytes } from "../../bench/rounds/allocation.ts";

describe("the Go contender of the benchmark", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("a machine without Go gets the names of the packages to install", async () => {
    vi.stubEnv("PATH", "");
    await expect(goSqlite.version()).rejects.toThrow(
      "there is no Go; on Debian: apt-get install golang-go golang-github-jackc-pgx-v4-dev",
    );
  });
});

describe("the bytes that a server of the benchmark allocated", () => {
  it("allocated bytes are summed over V8's lines for garbage collections alone", () => {
    const collection = (bytes: number) =>
      `[31123:0x39f6e000:0]      100 ms: pause=0.8 mutator=69.6 gc=s allocated=${bytes} promoted=0\n`;
    const output = `${collection(4_984_784)}{"level":30,"msg":"serving"}\nallocated=7\n${collection(960_464)}`;
    expect(allocatedBytes(output)).toBe(4_984_784 + 960_464);
    expect(allocatedBytes("")).toBe(0);
  });
});

describe("the options of the benchmark", () => {
  const warmUp = (...args: string[]) => readOptions(args, "out.json").warmUpSeconds;

  it("every server is warmed up for ten seconds, and in a short trial as long as a round", () => {
    expect(warmUp()).toBe(10);
    expect(warmUp("--seconds", "3")).toBe(3);
    expect(warmUp("--seconds", "3", "--warmup", "20")).toBe(20);
  });
});
