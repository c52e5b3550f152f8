import type { EventKey } from "../../domain/index.ts";
import type { StoredRecord } from "../records.ts";
import type { Connection } from "./connection.ts";
import type { Flusher } from "./flusher.ts";
import { findRecord } from "./once.ts";

interface LookupResult {
  readonly record: StoredRecord | undefined;
  /** Which state of the database it was found in. */
  readonly version: number;
}

interface PendingLookup {
  readonly key: EventKey;
  readonly resolve: (found: LookupResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Look-ups of one turn of the event loop share one read transaction: to begin one costs more than to look a record up,
 * and after each commit of the writer every page has to be found anew.
 */
export class BatchedLookup {
  readonly #connection: Connection;
  readonly #flusher: Flusher;
  #waiting: PendingLookup[] = [];
  /** The state of the database of which all is known to be on the disk. */
  #flushed: number | undefined;

  constructor(connection: Connection, flusher: Flusher) {
    this.#connection = connection;
    this.#flusher = flusher;
  }

  async find(key: EventKey): Promise<StoredRecord | undefined> {
    const { record, version } = await this.#enqueue(key);
    // It may have been committed a moment ago, here or by another process, and be on its way to the disk.
    if (record !== undefined && version !== this.#flushed) {
      await this.#flusher.flush();
      this.#flushed = version;
    }
    return record;
  }

  #enqueue(key: EventKey): Promise<LookupResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
    });
  }

  /** Must not throw: no caller would catch it. */
  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      this.#read(waiting);
    } catch (error) {
      // Those that are answered already hear nothing of it; the others try again where it passes.
      for (const { reject } of waiting) reject(error);
    }
  }

  #read(waiting: readonly PendingLookup[]): void {
    const connection = this.#connection;
    connection.run("BEGIN");
    try {
      // Another one after each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version); the
      // transaction sees this one state and no later one.
      const { data_version: version } = connection.get("PRAGMA data_version") as { data_version: number };
      for (const { key, resolve } of waiting) {
        const record = findRecord(connection, key);
        // One that is not completed was left by a handler itself; `once` refuses its event.
        resolve({ record: record?.status === "completed" ? record : undefined, version });
      }
    } finally {
      if (connection.database.isTransaction) connection.run("COMMIT");
    }
  }
}
