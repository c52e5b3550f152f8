import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that marks the processes of a run: its value is the run, and in a test file the file as well. */
export const RUN_MARK = "TEST_RUN_MARK";

const GRACE_MS = 3_000;

/** A process that a test file of this run began, itself or by another process. */
interface Running {
  readonly pid: number;
  /** The test file and the command line. */
  readonly text: string;
}

/**
 * Ends what the test files of a run have left running, whoever its parent is by now. Linux only: elsewhere each file
 * looks after the processes that it began itself.
 * @throws Error that names each of them
 */
export async function endLeftRunning(run: string): Promise<void> {
  const end = performance.now() + GRACE_MS;
  let left = runningOf(run);
  // A process that was killed at the end of the last file may take a moment.
  while (left.length > 0 && performance.now() < end) {
    await sleep(50);
    left = runningOf(run);
  }
  if (left.length === 0) return;
  for (const { pid } of left) kill(pid);
  throw new Error(`left running by the tests, killed now:\n${left.map(({ text }) => text).join("\n")}`);
}

function runningOf(run: string): Running[] {
  if (process.platform !== "linux") return [];
  const mark = `${RUN_MARK}=${run} `;
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const file = readProcess(name, "environ").find((line) => line.startsWith(mark));
    if (file === undefined) return [];
    const text = `${file.slice(mark.length)}: ${name} ${readProcess(name, "cmdline").join(" ")}`;
    return [{ pid: Number(name), text }];
  });
}

/** Empty where it has ended, or belongs to somebody else. */
function readProcess(pid: string, file: "environ" | "cmdline"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
