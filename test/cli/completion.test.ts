import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { runCommandLine } from "../support/command.ts";
import { isInstalled, openTerminal, type Terminal } from "../support/terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** What stands before the tab key, and what the last word is after it. */
const CASES: readonly (readonly [line: string, completed: string])[] = [
  ["oncehook fai", "failures"],
  ["oncehook failures --st", "--state"],
  ["oncehook failures --state ex", "exhausted"],
  ["oncehook failures --state=ex", "--state=exhausted"],
  ["oncehook failures --json --lim", "--limit"],
  ["oncehook oauth st", "state"],
  ["oncehook oauth state a-state --expi", "--expires-in"],
  ["oncehook send web", "webhook_message"],
  ["oncehook completion fi", "fish"],
  ["oncehook notifications dis", "discard"],
  ["oncehook help rep", "replay"],
  // The value of an option is no command, and a file's name is none of its values.
  ["oncehook events --id serve --lim", "--limit"],
  ["oncehook events --id bo", "bo"],
  ["oncehook serve --env .env.st", ".env.staging"],
  ["oncehook doctor --compare .env.staging .env.pr", ".env.prod"],
  ["oncehook sign bo", "body.json"],
  ["oncehook init fol", "folder"],
];

let folder = "";
const terminals: { bash?: Terminal; zsh?: Terminal } = {};
/** A shell that is not there is said aloud, and its tests count as skipped. */
const notHere = { zsh: !isInstalled("zsh"), fish: !isInstalled("fish") };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-completion-"));
  await mkdir(join(folder, "folder"));
  for (const name of ["body.json", "fold.txt", ".env.staging", ".env.prod"])
    await writeFile(join(folder, name), "");
  for (const shell of SHELLS) await writeFile(join(folder, `oncehook.${shell}`), await script(shell));
  terminals.bash = await openTerminal("bash --norc --noprofile -i", "source oncehook.bash", folder);
  if (notHere.zsh) return;
  const setup = "autoload -Uz compinit; compinit -u -D; source oncehook.zsh";
  terminals.zsh = await openTerminal("zsh -f -i", setup, folder);
});
afterAll(async () => {
  for (const terminal of Object.values(terminals)) await terminal.end();
  await rm(folder, { recursive: true, force: true });
});

async function script(shell: Shell): Promise<string> {
  const { code, stdout, stderr } = await runCommandLine(["completion", shell]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

async function run(shell: Shell, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder };
  const { stdout, stderr } = await promisify(execFile)(shell, args, { cwd: folder, env });
  expect(stderr).toBe("");
  return stdout;
}

/** The words that fish offers, without what it says of them. */
async function offeredByFish(line: string): Promise<string[]> {
  const offered = await run("fish", "--no-config", "-c", `source oncehook.fish; complete -C '${line}'`);
  return offered.split("\n").flatMap((row) => row.split("\t", 1).filter((word) => word !== ""));
}

/** Without the stroke after a folder, which some shells take away again. */
const lastWord = (line: string) => line.trimEnd().split(" ").at(-1)?.replace(/\/$/, "");
for (const [shell, isMissing] of Object.entries(notHere)) {
  if (isMissing)
    process.stderr.write(
      `completion: ${shell} is not installed (apt-get install ${shell}), so it is not tried\n`,
    );
}

describe("oncehook completion", () => {
  it.each(CASES)("bash completes at the tab key: %s", async (line, completed) => {
    expect(lastWord(await terminals.bash!.complete(line))).toBe(completed);
  });

  it.skipIf(notHere.zsh).each(CASES)("zsh completes at the tab key: %s", async (line, completed) => {
    expect(lastWord(await terminals.zsh!.complete(line))).toBe(completed);
  });

  it.skipIf(notHere.fish).each(CASES)("fish offers only the matching words: %s", async (line, completed) => {
    const offered = (await offeredByFish(line)).map(lastWord);
    expect(offered).toEqual(completed === lastWord(line) ? [] : [completed]);
  });

  it("bash offers every command without another package installed", async () => {
    const call = `COMP_WORDS=(oncehook ''); COMP_CWORD=1; _oncehook; echo "\${COMPREPLY[*]}"`;
    const offered = await run("bash", "--norc", "--noprofile", "-uc", `source oncehook.bash; ${call}`);
    const names = createProgram().commands.map((command) => command.name());
    expect(names).toContain("completion");
    expect(offered.trim().split(" ")).toEqual([...names, "help"]);
  });

  it("the bash script can be sourced twice", async () => {
    expect(await run("bash", "--norc", "-c", "source oncehook.bash; source oncehook.bash")).toBe("");
  });

  it.skipIf(notHere.zsh)("the zsh script also works as a file of fpath", async () => {
    await mkdir(join(folder, "functions"), { recursive: true });
    await writeFile(join(folder, "functions", "_oncehook"), await script("zsh"));
    const setup = "fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D";
    const terminal = await openTerminal("zsh -f -i", setup, folder);
    expect(lastWord(await terminal.complete("oncehook fai"))).toBe("failures");
    await terminal.end();
  });

  it.skipIf(notHere.fish)("fish shows what a command does", async () => {
    const offered = await run(
      "fish",
      "--no-config",
      "-c",
      "source oncehook.fish; complete -C 'oncehook serv'",
    );
    expect(offered).toBe("serve\tStart the receiver\n");
  });

  it("an unknown shell exits 2 with the shells that are supported", async () => {
    const { code, stderr } = await runCommandLine(["completion", "tcsh"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Allowed choices are bash, zsh, fish");
  });
});
