import { type FileHandle, open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { syncParentFolder } from "../../system/index.ts";
import { StoreError } from "../store-errors.ts";

export type WalFile = ReturnType<typeof openWal>;

/**
 * SQLite makes the WAL as it opens the database, so that one that is absent is a failed flush.
 * @param path of the database itself: SQLite keeps the WAL beside what a link leads to
 */
export function openWal(path: string) {
  let file: FileHandle | undefined;
  return {
    /** In a thread of Node's pool; what was written before it is on the disk after. */
    async sync(): Promise<void> {
      if (file === undefined) {
        file = await open(`${path}-wal`, "r+");
        await syncParentFolder(path);
      }
      await file.datasync();
    },
    async close(): Promise<void> {
      await file?.close();
    },
  };
}

const WAL_FLUSH_FAILED = "flush of the WAL failed; check the disk and restart";
const WAL_FLUSH_HANGS = "a flush of the WAL has been running for seconds; check the disk";
/** A disk that works takes milliseconds. */
const HUNG_FLUSH_MS = 5_000;

/** One flush at a time, shared by all calls that wait for the next. */
export class Flusher {
  readonly #file: WalFile;
  #running: Promise<void> = Promise.resolve();
  /** When the flush under way began. */
  #runningSince: number | undefined;
  #next: Promise<void> | undefined;
  readonly #failure = Promise.withResolvers<StoreError>();
  /** Resolves at the first failure. */
  readonly broken = this.#failure.promise;
  #error: StoreError | undefined;

  constructor(file: WalFile) {
    this.#file = file;
  }

  get isIntact(): boolean {
    return this.#error === undefined;
  }

  /** @throws StoreError after a failure: the content of the disk is unknown until the next start reads it */
  assertIntact(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /** @throws StoreError as `assertIntact`, and while a flush has been under way for seconds: no commit is confirmed then */
  assertFlushing(): void {
    this.assertIntact();
    if (this.#runningSince !== undefined && performance.now() - this.#runningSince > HUNG_FLUSH_MS)
      throw new StoreError("unavailable", WAL_FLUSH_HANGS, undefined);
  }

  /** Resolves when all that was committed before this call is on the disk. */
  flush(): Promise<void> {
    this.#next ??= this.#start();
    return this.#next;
  }

  /** A flush or a ROLLBACK has failed. From now on the store takes nothing and calls nothing durable. */
  markFailed(cause: unknown, message = WAL_FLUSH_FAILED): StoreError {
    this.#error ??= new StoreError("unavailable", message, cause);
    this.#failure.resolve(this.#error);
    return this.#error;
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#file.close();
  }

  async #start(): Promise<void> {
    // The flush under way may have started before the commit that this one is for.
    await this.#running;
    this.assertIntact();
    this.#next = undefined;
    this.#runningSince = performance.now();
    const flush = this.#file.sync();
    this.#running = flush
      .catch(() => {})
      .then(() => {
        this.#runningSince = undefined;
      });
    try {
      await flush;
    } catch (cause) {
      throw this.markFailed(cause);
    }
  }
}

const KEPT: DatabaseSync[] = [];

/**
 * The last connection that closes copies what is left of the log and deletes it. After a failed flush the log may be the only
 * whole copy. A connection that can only read is left open, and none of the others is the last. The next start copies the log
 * from its begin.
 */
export function keepWal(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  database.prepare("SELECT count(*) FROM sqlite_schema").get();
  KEPT.push(database);
}
