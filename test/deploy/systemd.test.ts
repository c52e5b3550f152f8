import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { notRun, onThePath } from "./on-the-path.ts";

const program = onThePath("systemd-analyze");
const HARDENING = readFileSync("docs/hardening.md", "utf8");
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
    .filter((line) => line !== "" && (existsSync(node) || !line.includes(`Command ${node} is not executable`)));
}

describe("docs/hardening.md", () => {
  it("docs/hardening.md puts the unit's files where the unit looks for them, on a fresh machine", async () => {
    const [, block = ""] = /```\n(useradd [\s\S]*?)```/.exec(HARDENING) ?? [];
    const root = await mkdtemp(join(tmpdir(), "oncehook-root-"));
    try {
      await mkdir(join(root, "etc/systemd/system"), { recursive: true });
      await writeFile(join(root, "production.env"), "");
      await cp("deploy", join(root, "deploy"), { recursive: true });
      const lines = block.split("\n").filter((line) => line.startsWith("install "));
      for (const line of lines) {
        await promisify(execFile)("sh", ["-c", line.replaceAll(" /etc/", ` ${root}/etc/`)], { cwd: root });
      }
      const [, environment = ""] = /^EnvironmentFile=(\S+)$/m.exec(UNIT) ?? [];
      expect((await stat(join(root, environment))).mode & 0o777).toBe(0o600);
      expect(await readFile(join(root, "etc/systemd/system/oncehook.service"), "utf8")).toBe(UNIT);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});

describe("deploy/oncehook.service", () => {
  if (program === undefined) {
    it.skip(notRun("systemd-analyze", "the unit, verified and measured"), () => {});
    return;
  }

  it("systemd finds no fault in the unit", async () => {
    expect(await complaints(UNIT)).toEqual([]);
  });

  it.each([
    ["a setting that does not exist", UNIT.replace("ProtectSystem=", "ProtectSytem=")],
    ["a value that does not exist", UNIT.replace("Restart=always", "Restart=allways")],
  ])("systemd finds a fault with %s", async (_title, unit) => {
    expect(await complaints(unit)).not.toEqual([]);
  });

  it("the unit gets ports below 1024 by the lines of docs/hardening.md, and by nothing less", async () => {
    const lines = /```ini\n(\[Service\]\n[\s\S]*?)```/.exec(HARDENING)?.[1] ?? "";
    const set = Object.fromEntries([...lines.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
    expect(set).toEqual({
      // The right must be within the bound, and counts only in the machine's own user name space.
      CapabilityBoundingSet: "CAP_NET_BIND_SERVICE",
      AmbientCapabilities: "CAP_NET_BIND_SERVICE",
      PrivateUsers: "no",
    });
    for (const name of Object.keys(set)) expect(UNIT).toMatch(new RegExp(`^${name}=`, "m"));
    expect(await complaints(`${UNIT}\n${lines}`)).toEqual([]);
  });

  it("the unit restricts the receiver, and systemd reports a looser one", async () => {
    const verb = ["security", "--offline=true", `--threshold=${THRESHOLD}`];
    expect(await analyze(verb, UNIT)).toMatchObject({ code: 0, output: expect.stringContaining("OK") });
    const open = UNIT.replaceAll(/^(SystemCallFilter|CapabilityBoundingSet|ProtectSystem)=.*\n/gm, "");
    expect((await analyze(verb, open)).code).not.toBe(0);
  });
});
