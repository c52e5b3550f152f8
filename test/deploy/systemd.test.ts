import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { notRun, onThePath } from "./on-the-path.ts";

const program = onThePath("systemd-analyze");
const UNIT = readFileSync("deploy/oncehook.service", "utf8");
/** Tenths of systemd's exposure: docs/hardening.md says 1.3, other versions of systemd count a little differently. */
const THRESHOLD = 20;

interface Ended {
  readonly code: number;
  readonly output: string;
}

async function analyze(verb: readonly string[], unit: string): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-unit-"));
  const file = join(folder, "oncehook.service");
  try {
    await writeFile(file, unit);
    return await new Promise((resolve) => {
      execFile(program ?? "", [...verb, file], (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What `verify` says of the unit; only that this machine has no Node at that place is no mistake of the unit's. */
async function complaints(unit: string): Promise<string[]> {
  const [, node = ""] = /^ExecStart=(\S+)/m.exec(unit) ?? [];
  const { output } = await analyze(["verify"], unit);
  return output
    .split("\n")
    .filter(
      (line) => line !== "" && (existsSync(node) || !line.includes(`Command ${node} is not executable`)),
    );
}

describe("deploy/oncehook.service", () => {
  if (program === undefined) {
    it.skip(notRun("systemd-analyze", "the unit, verified and measured"), () => {});
    return;
  }

  it("is a unit with which systemd finds no fault", async () => {
    expect(await complaints(UNIT)).toEqual([]);
  });

  it.each([
    ["a setting that does not exist", UNIT.replace("ProtectSystem=", "ProtectSytem=")],
    ["a value that does not exist", UNIT.replace("Restart=always", "Restart=allways")],
  ])("would be found fault with for %s", async (_title, unit) => {
    expect(await complaints(unit)).not.toEqual([]);
  });

  it("leaves the receiver little to do harm with, and would be told so if it left more", async () => {
    const verb = ["security", "--offline=true", `--threshold=${THRESHOLD}`];
    expect(await analyze(verb, UNIT)).toMatchObject({ code: 0, output: expect.stringContaining("OK") });
    const open = UNIT.replaceAll(/^(SystemCallFilter|CapabilityBoundingSet|ProtectSystem)=.*\n/gm, "");
    expect((await analyze(verb, open)).code).not.toBe(0);
  });
});
