import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** What one pass came to: how many frames the write-ahead log had as it began, and how many of them it could not copy. */
export interface CheckpointAnswer {
  readonly frames: number;
  readonly left: number;
  /** Why nobody can tell any more what the disk has. */
  readonly flushFailed?: string;
}

/** Runs something between two groups of the writer. */
export type Rest = (during: () => Promise<unknown>) => Promise<unknown>;

export interface CheckpointRules {
  /** How long after a commit its pages are copied, in milliseconds. */
  readonly afterMs: number;
  /** In frames of a page: from here on the log shall begin anew. The longer it is, the fewer pages are written twice. */
  readonly longLog: number;
  /** The code of the thread. */
  readonly code: URL;
}

interface Thread {
  readonly worker: Worker;
  /** Aborted at its end, however it came about. */
  readonly ended: AbortSignal;
}

export const CHECKPOINT_RULES: CheckpointRules = {
  afterMs: 1_000,
  longLog: 8_192,
  code: new URL("./checkpoint-thread.js", import.meta.url),
};
const MOST_PASSES = 5;
/** So few frames take some milliseconds. */
const FEW_FRAMES = 256;

/**
 * Copies the write-ahead log into the database, in a thread of its own: inside a commit it would hold up everybody. A log
 * that is written to all the time is never copied to its end, and grows; so each pass has fewer new frames to copy than the
 * one before, and the last one is done while the writer rests, after which the next commit begins the log anew.
 *
 * What goes wrong here loses nothing, and is tried again; SQLite's own checkpoint in a commit stays on, for a log that
 * has become far longer than it should be.
 */
export class Checkpointer {
  readonly #path: string;
  readonly #rest: Rest;
  readonly #flushFailed: (cause: Error) => void;
  readonly #rules: CheckpointRules;
  #thread: Thread | undefined;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #isClosed = false;

  /** @param flushFailed told when the disk did not take what was copied, after which nothing must be relied on */
  constructor(path: string, rest: Rest, flushFailed: (cause: Error) => void, rules = CHECKPOINT_RULES) {
    this.#path = path;
    this.#rest = rest;
    this.#flushFailed = flushFailed;
    this.#rules = rules;
  }

  /** Something was committed, and is to be copied soon. */
  committed(): void {
    if (this.#timer !== undefined || this.#underWay !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#underWay = this.#run()
        .catch(() => {})
        .finally(() => {
          this.#underWay = undefined;
        });
    }, this.#rules.afterMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#underWay;
    await this.#thread?.worker.terminate();
  }

  async #run(): Promise<void> {
    let copied = 0;
    for (let passes = 0; passes < MOST_PASSES && !this.#isClosed; passes += 1) {
      const { frames, left } = await this.#pass();
      // A reader of long ago keeps the rest from being copied: to stop the writer would not help.
      if (frames < this.#rules.longLog || left > 0) return;
      if (frames - copied <= FEW_FRAMES) break;
      copied = frames;
    }
    if (!this.#isClosed) await this.#rest(() => this.#pass());
  }

  async #pass(): Promise<CheckpointAnswer> {
    this.#thread ??= this.#begin();
    const { worker, ended } = this.#thread;
    // Its end is no error of its own, and would be waited for in vain by the pass, and by everybody who waits for that.
    const answered = once(worker, "message", { signal: ended });
    worker.postMessage("pass");
    const [answer] = (await answered) as [CheckpointAnswer];
    if (answer.flushFailed !== undefined) {
      // A further pass would let the log begin anew over what the disk may not have.
      this.#isClosed = true;
      this.#flushFailed(new Error(answer.flushFailed));
    }
    return answer;
  }

  #begin(): Thread {
    const worker = new Worker(this.#rules.code, {
      workerData: this.#path,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    // It keeps no process alive that wants to end.
    worker.unref();
    const ending = new AbortController();
    const thread = { worker, ended: ending.signal };
    // One that could not begin, or has died, is begun anew for the next pass.
    worker
      .on("error", () => {})
      .on("exit", () => {
        if (this.#thread === thread) this.#thread = undefined;
        ending.abort();
      });
    return thread;
  }
}
