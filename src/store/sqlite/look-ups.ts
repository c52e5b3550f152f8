import type { EventKey } from "../../domain/index.ts";
import type { StoredRecord } from "../store.ts";
import type { Connection } from "./connection.ts";
import { findRecord } from "./once.ts";

interface LookUp {
  readonly key: EventKey;
  readonly resolve: (record: StoredRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Look-ups of one turn of the event loop share one read transaction: to begin one costs more than to look a record up,
 * and after each commit of the writer every page has to be found anew.
 */
export class LookUps {
  readonly #connection: Connection;
  #waiting: LookUp[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  find(key: EventKey): Promise<StoredRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
    });
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const connection = this.#connection;
    try {
      if (waiting.length > 1) connection.run("BEGIN");
      for (const { key, resolve } of waiting) resolve(findRecord(connection, key));
    } catch (error) {
      // Those that are answered already hear nothing of it; the others try again where it passes.
      for (const { reject } of waiting) reject(error);
    } finally {
      if (connection.database.isTransaction) connection.run("COMMIT");
    }
  }
}
