import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { EventKey } from "../../domain/index.ts";
import type { StoredRecord } from "../records.ts";
import type { Deadline } from "../retry-until.ts";
import { withTimeout } from "../with-timeout.ts";
import { NoConnection } from "./database-errors.ts";
import { selectRecord, toStoredRecord } from "./once-statements.ts";
import { withClient } from "./pool.ts";
import { sendBatch } from "./statement.ts";

interface PendingLookup {
  readonly key: EventKey;
  readonly deadline: Deadline;
  readonly timer: NodeJS.Timeout;
  resolve(record: StoredRecord | undefined): void;
  reject(error: unknown): void;
}

/** Concurrent look-ups share a round trip; later ones join the next batch. */
const MAX_CONCURRENT_BATCHES = 2;
const MAX_BATCH_SIZE = 64;
/** A slower batch (a dead connection, for example) does not delay the next one. */
const SLOW_BATCH_MS = 300;

/** Looks up the record of an event; concurrent look-ups share a round trip. */
export class BatchedLookup {
  readonly #pool: pg.Pool;
  #waiting: PendingLookup[] = [];
  #runningBatches = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** @throws NoConnection when there was no answer until the deadline; a search changes nothing and ends by itself later */
  find(key: EventKey, deadline: Deadline): Promise<StoredRecord | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredRecord | undefined>();
    const giveUp = () => reject(new NoConnection("the look-up was not answered until the deadline"));
    const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
    this.#waiting.push({ key, deadline, timer, resolve, reject });
    if (this.#runningBatches < MAX_CONCURRENT_BATCHES) void this.#runBatches();
    return promise;
  }

  async #runBatches(): Promise<void> {
    this.#runningBatches += 1;
    // Look-ups from this turn of the event loop join the batch.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#runBatch(this.#waiting.splice(0, MAX_BATCH_SIZE));
    this.#runningBatches -= 1;
  }

  async #runBatch(searches: readonly PendingLookup[]): Promise<void> {
    await withTimeout(this.#lookUp(searches), SLOW_BATCH_MS, undefined);
  }

  async #lookUp(searches: readonly PendingLookup[]): Promise<void> {
    const latest = Math.max(...searches.map(({ deadline }) => deadline));
    try {
      const statements = searches.map(({ key }) => selectRecord(key));
      const answers = await withClient(this.#pool, latest, (client) => sendBatch(client, statements));
      for (const [index, { resolve }] of searches.entries()) resolve(toStoredRecord(answers[index]));
    } catch (error) {
      for (const { reject } of searches) reject(error);
    } finally {
      for (const { timer } of searches) clearTimeout(timer);
    }
  }
}
