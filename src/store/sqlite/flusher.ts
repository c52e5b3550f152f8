import { type FileHandle, open } from "node:fs/promises";
import { flushFolder } from "../../files/index.ts";
import { StoreFault } from "../store-fault.ts";

/** The flush of the write-ahead log of a database, in a thread of its own; what was written before it is on the disk after. */
export interface LogFile {
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function logFileOf(path: string): LogFile {
  let file: FileHandle | undefined;
  return {
    async sync() {
      if (file === undefined) {
        file = await open(`${path}-wal`, "r+").catch(unlessAbsent);
        if (file !== undefined) await flushFolder(path);
      }
      await file?.datasync();
    },
    async close() {
      await file?.close();
    },
  };
}

/** SQLite makes the log with the first write, so that without one there is nothing to flush. */
function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

const NOT_TAKEN = "the disk did not take what was committed; restart, and look at the disk";

/** One flush at a time, shared by all who wait for the next. */
export class Flusher {
  readonly #file: LogFile;
  #underWay: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  readonly #breaking = Promise.withResolvers<StoreFault>();
  #broken: StoreFault | undefined;

  constructor(file: LogFile) {
    this.#file = file;
  }

  /** Resolves at the first failure. */
  get broken(): Promise<StoreFault> {
    return this.#breaking.promise;
  }

  get isIntact(): boolean {
    return this.#broken === undefined;
  }

  /** @throws StoreFault after a failure: what the disk has then nobody can tell, until the next start reads it */
  assertIntact(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** Resolves when all that was committed before this call is on the disk. */
  flush(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  /** A flush has failed, here or in a checkpoint, or a ROLLBACK: from now on the store takes nothing and calls nothing durable. */
  failed(cause: unknown, words = NOT_TAKEN): StoreFault {
    this.#broken ??= new StoreFault("unavailable", words, cause);
    this.#breaking.resolve(this.#broken);
    return this.#broken;
  }

  async close(): Promise<void> {
    await this.#underWay;
    await this.#file.close();
  }

  async #begin(): Promise<void> {
    // The one under way may have begun before the commit that this one is for.
    await this.#underWay;
    this.assertIntact();
    this.#next = undefined;
    const flush = this.#file.sync();
    this.#underWay = flush.catch(() => {});
    try {
      await flush;
    } catch (cause) {
      throw this.failed(cause);
    }
  }
}
