import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { until } from "./until.ts";

/** Whether a program can be started here. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}

const BEGINNING_OF_LINE = "\u0001";
const END_OF_LINE = "\u0005";

export interface Terminal {
  /** Types a line and the tab key, and returns what the line is then: the shell prints it itself. */
  complete(line: string): Promise<string>;
  end(): Promise<void>;
}

/**
 * Starts a shell that believes it has a terminal (`script` of util-linux gives it one).
 * @param setup what the shell is told before
 */
export async function openTerminal(shell: string, setup: string, cwd: string): Promise<Terminal> {
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
  const type = async (keys: string, answer: RegExp): Promise<string> => {
    shown = "";
    child.stdin?.write(keys);
    try {
      await until(() => answer.test(shown));
    } catch (cause) {
      throw new Error(`the shell showed only:\n${shown}`, { cause });
    }
    return answer.exec(shown)?.[1] ?? "";
  };
  // In two parts, so that the line as it is typed is not taken for its answer.
  await type(`${setup}; echo rea''dy\n`, /ready/);
  return {
    complete: (line) =>
      type(`${line}\t${BEGINNING_OF_LINE}printf '<<%s>>\\n' '${END_OF_LINE}'\n`, /<<(oncehook[^>]*)>>/),
    end: () => endOf(child),
  };
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
