import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { CHECKPOINT_THREAD } from "./checkpoint-thread.ts";

/** One pass: how many frames the write-ahead log had as it began, and how many it could not copy. */
export interface CheckpointResult {
  readonly frames: number;
  readonly left: number;
  /** Set when fsync failed: the content of the disk is unknown. */
  readonly flushFailed?: string;
}

/** Runs a function between two groups of the writer. */
export type PauseWriter = (during: () => Promise<unknown>) => Promise<unknown>;

export interface CheckpointOptions {
  /** How long after a commit its pages are copied, in milliseconds. */
  readonly afterMs: number;
  /** So many commits wait for the first copy: a process of a few needs no thread. */
  readonly firstAfterCommits: number;
  /** WAL length, in frames, from which it is restarted. A longer WAL writes fewer pages twice. */
  readonly restartFrames: number;
  readonly code: URL;
}

interface Thread {
  readonly worker: Worker;
  /** Aborted at its end, however it came about. */
  readonly ended: AbortSignal;
}

export const CHECKPOINT_DEFAULTS: CheckpointOptions = {
  // The flush of the WAL waits behind the copied pages: 40 MB of a second at full rate (decision 0018).
  afterMs: 100,
  firstAfterCommits: 32,
  restartFrames: 4_096,
  code: CHECKPOINT_THREAD,
};
const MAX_PASSES = 5;
/** So few frames take some milliseconds. */
const FEW_FRAMES = 256;

/**
 * Copies the write-ahead log into the database, in another thread: inside a commit it would delay all events. A WAL that is
 * written to all the time is never copied to its end, and grows. So each pass has fewer new frames to copy than the one before.
 * The last one runs while the writer pauses; the next commit restarts the WAL.
 *
 * An error here loses nothing, and is tried again; SQLite's own checkpoint in a commit stays on, for a log that has become far
 * longer than it should be.
 */
export class Checkpointer {
  readonly #path: string;
  readonly #pauseWriter: PauseWriter;
  readonly #flushFailed: (cause: Error) => void;
  readonly #rules: CheckpointOptions;
  #thread: Thread | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #commits = 0;
  #isClosed = false;

  /** @param flushFailed called when a checkpoint's fsync failed; the store then stops */
  constructor(
    path: string,
    pauseWriter: PauseWriter,
    flushFailed: (cause: Error) => void,
    rules = CHECKPOINT_DEFAULTS,
  ) {
    this.#path = path;
    this.#pauseWriter = pauseWriter;
    this.#flushFailed = flushFailed;
    this.#rules = rules;
  }

  /** Something was committed, and is to be copied soon. */
  onCommit(): void {
    this.#commits += 1;
    if (this.#commits < this.#rules.firstAfterCommits) return;
    if (this.#timer !== undefined || this.#running !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#run()
        .catch(() => {})
        .finally(() => {
          this.#running = undefined;
        });
    }, this.#rules.afterMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#thread?.worker.terminate();
  }

  async #run(): Promise<void> {
    let copied = 0;
    for (let passes = 0; passes < MAX_PASSES && !this.#isClosed; passes += 1) {
      const { frames, left } = await this.#pass();
      // A reader of long ago keeps the rest from being copied: to stop the writer would not help.
      if (frames < this.#rules.restartFrames || left > 0) return;
      if (frames - copied <= FEW_FRAMES) break;
      copied = frames;
    }
    if (!this.#isClosed) await this.#pauseWriter(() => this.#pass());
  }

  async #pass(): Promise<CheckpointResult> {
    this.#thread ??= this.#startThread();
    const { worker, ended } = this.#thread;
    // A thread that ends emits no message; without the signal the pass would wait forever.
    const answered = once(worker, "message", { signal: ended });
    worker.postMessage("pass");
    const [answer] = (await answered) as [CheckpointResult];
    if (answer.flushFailed !== undefined) {
      // A further pass would let the WAL restart over pages that the disk may not have.
      this.#isClosed = true;
      this.#flushFailed(new Error(answer.flushFailed));
    }
    return answer;
  }

  #startThread(): Thread {
    const worker = new Worker(this.#rules.code, {
      workerData: this.#path,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    // It keeps no process alive that wants to end.
    worker.unref();
    const ending = new AbortController();
    const thread = { worker, ended: ending.signal };
    // A thread that failed to start or died is started again for the next pass.
    worker
      .on("error", () => {})
      .on("exit", () => {
        if (this.#thread === thread) this.#thread = undefined;
        ending.abort();
      });
    return thread;
  }
}

/**
 * Whether one connection may copy the log while another one commits. Before 3.51.3 (3.50.7 and 3.44.6) SQLite could then treat
 * a restarted log as copied, and lose its contents: https://sqlite.org/wal.html#walresetbug
 * @param version as `sqlite_version()` tells it: a Node may be linked with another SQLite than it was made with
 */
export function isConcurrentCheckpointSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 3) return major > 3;
  const mended = FIXED_IN.get(minor);
  return mended === undefined ? minor > NEWEST_BEFORE : patch >= mended;
}

const NEWEST_BEFORE = 51;
const FIXED_IN = new Map([
  [44, 6],
  [50, 7],
  [NEWEST_BEFORE, 3],
]);
