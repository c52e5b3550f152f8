import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { until } from "./until.ts";

/** Whether a program can be started here. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}

const BEGINNING_OF_LINE = "\u0001";
const END_OF_LINE = "\u0005";

/**
 * Types a line and the tab key into a shell that believes it has a terminal (`script` of util-linux lends it one), and
 * returns what the line is then: the shell prints it itself.
 * @param setup what the shell is told before
 */
export async function completedLine(
  shell: string,
  setup: string,
  line: string,
  cwd: string,
): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, TERM: "xterm" };
  const child = spawn("script", ["-qfc", shell, "/dev/null"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  child.stdout?.on("data", (chunk) => {
    shown += chunk;
  });
  try {
    // In two parts, so that the line as it is typed is not taken for its answer.
    child.stdin?.write(`${setup}; echo rea''dy\n`);
    await until(() => shown.includes("ready"));
    child.stdin?.write(`${line}\t${BEGINNING_OF_LINE}printf '<<%s>>\\n' '${END_OF_LINE}'\n`);
    await until(() => /<<oncehook[^>]*>>/.test(shown));
    return /<<(oncehook[^>]*)>>/.exec(shown)?.[1] ?? "";
  } catch (cause) {
    throw new Error(`the shell showed only:\n${shown}`, { cause });
  } finally {
    await endOf(child);
  }
}

/** The shell is told to go, and its terminal goes with it; one that does not hear is ended. */
async function endOf(child: ChildProcess): Promise<void> {
  child.stdin?.write("exit\n");
  try {
    await until(() => child.exitCode !== null || child.signalCode !== null);
  } finally {
    child.kill("SIGKILL");
  }
}
