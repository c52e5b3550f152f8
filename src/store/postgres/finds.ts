import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { EventKey } from "../../domain/index.ts";
import type { Deadline, StoredRecord } from "../store.ts";
import { unlessLate } from "../unless-late.ts";
import { NoConnection } from "./hindrance.ts";
import { withClient } from "./pool.ts";
import { selectRecord, toStoredRecord } from "./records.ts";
import { exchange } from "./statement.ts";

interface Search {
  readonly key: EventKey;
  readonly deadline: Deadline;
  readonly timer: NodeJS.Timeout;
  resolve(record: StoredRecord | undefined): void;
  reject(error: unknown): void;
}

/** One round trip for all who look at the same time; what arrives while these are under way goes with the next one. */
const MOST_TRIPS = 2;
const MOST_SEARCHES = 64;
/** A trip that takes longer, over a connection that is dead, say, keeps nobody from the next. */
const SLOW_TRIP_MS = 300;

/** The first look for an event's record, which every delivery takes: those of the same moment share a round trip. */
export class Finds {
  readonly #pool: pg.Pool;
  #waiting: Search[] = [];
  #trips = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** @throws NoConnection when there was no answer until the deadline; a search changes nothing and ends by itself later */
  find(key: EventKey, deadline: Deadline): Promise<StoredRecord | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredRecord | undefined>();
    const giveUp = () => reject(new NoConnection("the look-up was not answered until the deadline"));
    const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
    this.#waiting.push({ key, deadline, timer, resolve, reject });
    if (this.#trips < MOST_TRIPS) void this.#travel();
    return promise;
  }

  async #travel(): Promise<void> {
    this.#trips += 1;
    // Whoever has come by the end of this turn of the event loop goes along.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#trip(this.#waiting.splice(0, MOST_SEARCHES));
    this.#trips -= 1;
  }

  async #trip(searches: readonly Search[]): Promise<void> {
    await unlessLate(this.#search(searches), SLOW_TRIP_MS, undefined);
  }

  async #search(searches: readonly Search[]): Promise<void> {
    const latest = Math.max(...searches.map(({ deadline }) => deadline));
    try {
      const statements = searches.map(({ key }) => selectRecord(key));
      const answers = await withClient(this.#pool, latest, (client) => exchange(client, statements));
      for (const [index, { resolve }] of searches.entries()) resolve(toStoredRecord(answers[index]));
    } catch (error) {
      for (const { reject } of searches) reject(error);
    } finally {
      for (const { timer } of searches) clearTimeout(timer);
    }
  }
}
