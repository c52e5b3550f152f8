import type { CallbackStore, LoggedCallback } from "../../store/index.ts";
import { type Place, writePlace } from "./place.ts";

/** A row, and how far the log has been read with it. */
export interface ReadCallback {
  readonly row: LoggedCallback;
  readonly place: string;
}

/** So long a row may become visible after those with higher ids: no transaction that writes one takes longer. */
export const LATE_MS = 60_000;
/** PostgreSQL skips a few ids when it is restarted; what lies between two ids further apart was deleted, or never was. */
const MOST_SKIPPED = 1_000;
const MOST_MISSING = 5_000;
/** Where the log is short, so many before its first row may be on their way. */
const BEFORE_FIRST = 8;

/**
 * Reads the callback log from a place on, each row once, as rows become visible: those above the newest one, and those below it
 * that were missing. An id whose transaction was rolled back stays missing, and is given up after a minute.
 */
export class LogReader {
  readonly #callbacks: CallbackStore;
  #newest: number;
  /** By id, since when it is. */
  readonly #missing: Map<number, number>;

  constructor(callbacks: CallbackStore, { newest, missing }: Place) {
    this.#callbacks = callbacks;
    this.#newest = newest;
    this.#missing = new Map(missing.map((id) => [id, performance.now()]));
  }

  /** A reader of what comes from now on, and of what is on its way. */
  static async atEnd(callbacks: CallbackStore): Promise<LogReader> {
    const ids = await callbacks.newestIds(MOST_SKIPPED);
    const oldest = ids.at(-1) ?? 0;
    // Below a full page are older rows, and none of them is new.
    const before = Math.max(0, oldest - 1 - (ids.length < MOST_SKIPPED ? BEFORE_FIRST : 0));
    const reader = new LogReader(callbacks, { newest: before, missing: [] });
    for (const id of ids.toReversed()) reader.#note(id);
    return reader;
  }

  get place(): Place {
    return { newest: this.#newest, missing: [...this.#missing.keys()] };
  }

  /** Waits for these ids too. */
  watch(ids: readonly number[]): void {
    for (const id of ids) if (!this.#missing.has(id)) this.#missing.set(id, performance.now());
  }

  /** The next rows, those that came late first; fewer than `most` new ones where there are no more. */
  async next(most: number): Promise<{ readonly read: readonly ReadCallback[]; readonly isBehind: boolean }> {
    const late = await this.#callbacks.among([...this.#missing.keys()]);
    const fresh = await this.#callbacks.after(this.#newest, most);
    this.#giveUp();
    if (fresh.length === 0 && late.length === 0) await this.#lookWhetherBegunAnew();
    const read = [...late, ...fresh].map((row) => {
      this.#note(row.id);
      return { row, place: writePlace(this.place) };
    });
    return { read, isBehind: fresh.length === most };
  }

  /** Leaves out what lies between. */
  skipTo(newest: number): void {
    this.#newest = Math.max(this.#newest, newest);
  }

  #note(id: number): void {
    this.#missing.delete(id);
    if (id <= this.#newest) return;
    if (id - this.#newest <= MOST_SKIPPED) {
      for (let between = this.#newest + 1; between < id; between += 1)
        this.#missing.set(between, performance.now());
    }
    this.#newest = id;
  }

  #giveUp(): void {
    const before = performance.now() - LATE_MS;
    for (const [id, since] of this.#missing) {
      if (since > before && this.#missing.size <= MOST_MISSING) break;
      this.#missing.delete(id);
    }
  }

  /** SQLite hands ids out again where the newest row was deleted, and a database may be put back to an earlier state. */
  async #lookWhetherBegunAnew(): Promise<void> {
    const [newest = 0] = await this.#callbacks.newestIds(1);
    if (newest < this.#newest) this.#newest = newest;
  }
}
