import { Worker } from "node:worker_threads";

const BEAT_MS = 1_000;
const MIN_LIMIT_MS = 5_000;
const HANDLER_LIMITS = 3;

const STALLED =
  "the main thread was blocked for longer than any handler may take, probably by an endless loop in a handler; " +
  "this process ends, and what was under way comes again: let a service manager start it, and look at the handlers";

/**
 * No time limit of this thread comes to anything while a handler's loop has it: another thread counts the seconds in
 * which this one does not answer, and ends the process. A process that was halted as a whole has missed none.
 * @returns false under Node's permission model without --allow-worker, where nothing watches
 */
export function startStallWatchdog(handlerTimeoutMs: number): boolean {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const missable = Math.ceil(Math.max(MIN_LIMIT_MS, HANDLER_LIMITS * handlerTimeoutMs) / BEAT_MS);
  try {
    const workerData = { beats, beatMs: BEAT_MS, missable, line: { level: 60, msg: STALLED } };
    const worker = new Worker(WATCHDOG_CODE, { eval: true, workerData, resourceLimits: SMALL });
    // It has failed to start, or run out of memory: nothing watches then, and nothing else is wrong.
    worker.on("error", () => {});
    worker.unref();
  } catch {
    return false;
  }
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  return true;
}

/** In mebibytes. */
const SMALL = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 };

/** The line is written by a thread of the pool, with a time limit: the output may not be read. */
const WATCHDOG_CODE = `
  const { workerData } = require("node:worker_threads");
  const { write } = require("node:fs");
  const { beats, beatMs, missable, line } = workerData;
  const kill = () => process.kill(process.pid, "SIGKILL");
  let seen = -1;
  let missed = 0;
  setInterval(() => {
    const beat = Atomics.load(beats, 0);
    missed = beat === seen ? missed + 1 : 0;
    seen = beat;
    if (missed !== missable) return;
    const { level, ...rest } = line;
    const text = JSON.stringify({ level, time: new Date().toISOString(), ...rest });
    setTimeout(kill, beatMs);
    write(1, text + "\\n", kill);
  }, beatMs);
`;
