import type { CallbackFilter, CallbackLogRow } from "../domain/index.ts";
import type { Search } from "./page.ts";

export interface LoggedCallback extends CallbackLogRow {
  readonly id: number;
}

/** What one search has found. */
export interface FoundCallbacks {
  /** Newest first. */
  readonly callbacks: readonly LoggedCallback[];
  /** Where the search goes on, as `before`; null at its end. */
  readonly next: number | null;
  /** When the oldest callback came that was looked at, in ISO 8601; null at the end. */
  readonly searchedUntil: string | null;
}

/**
 * The callback log as it is read. Ids grow with the time, nearly: a row gets its id when its callback is answered, and on
 * PostgreSQL rows may become visible in another order than that of their ids. Rows that waited for a database that was away get
 * theirs far later, which is noted beside them.
 */
export interface CallbackStore {
  /** A bounded look: what is not found within its time is found when it goes on. */
  search(filter: CallbackFilter, search: Search): Promise<FoundCallbacks>;
  /** Before rows are stored that came long ago: when the oldest of them came, and now. */
  noteLate(oldest: Date, now: Date): Promise<void>;
  get(id: number): Promise<LoggedCallback | undefined>;
  /** The rows with an id above it, oldest first. */
  after(id: number, limit: number): Promise<LoggedCallback[]>;
  /** Those of these ids that can be seen, oldest first. */
  among(ids: readonly number[]): Promise<LoggedCallback[]>;
  /**
   * Deletes the oldest rows of strangers, in steps, until all of them take no more than so many bytes.
   * @returns how many rows went
   */
  boundRefused(mostBytes: number): Promise<number>;
  /** The newest ids, newest first. */
  newestIds(limit: number): Promise<number[]>;
}
