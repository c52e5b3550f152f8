import type { Callbacks, StoredCallback } from "../../store/index.ts";

export interface ReadCallback {
  readonly row: StoredCallback;
  readonly position: string;
}

/** A row may become visible so long after rows with higher ids: no transaction that writes one takes longer. */
const MAX_COMMIT_DELAY_MS = 60_000;
/** PostgreSQL skips a few ids when it is restarted. Rows of larger gaps were deleted, or never existed. */
const MAX_SKIPPED_IDS = 1_000;
const MAX_MISSING = 5_000;
/** In a short log, so many rows before the first one may become visible later. */
const BEFORE_FIRST = 8;

/**
 * Reads the callback log from a position on, each row once, as rows become visible. They have ids above the newest one, or
 * were missing below it. An id whose transaction was rolled back stays missing, and is given up after a minute.
 */
export class LogReader {
  readonly #callbacks: Callbacks;
  #newest: number;
  /** By id, since when it is missing. */
  readonly #missing: Map<number, number>;

  constructor(callbacks: Callbacks, { newest, missing }: LogPosition) {
    this.#callbacks = callbacks;
    this.#newest = newest;
    this.#missing = new Map(missing.map((id) => [id, performance.now()]));
  }

  /** A reader of later rows, and of those that are not visible yet. */
  static async atEnd(callbacks: Callbacks): Promise<LogReader> {
    const ids = await callbacks.newestIds(MAX_SKIPPED_IDS);
    const oldest = ids.at(-1) ?? 0;
    // Rows below a full page are old.
    const before = Math.max(0, oldest - 1 - (ids.length < MAX_SKIPPED_IDS ? BEFORE_FIRST : 0));
    const reader = new LogReader(callbacks, { newest: before, missing: [] });
    for (const id of ids.toReversed()) reader.#note(id);
    return reader;
  }

  get position(): LogPosition {
    return { newest: this.#newest, missing: [...this.#missing.keys()] };
  }

  /** The next rows, those that came late first; fewer than `most` new ones where there are no more. */
  async next(most: number): Promise<{ readonly read: readonly ReadCallback[]; readonly isBehind: boolean }> {
    const late = await this.#callbacks.byIds([...this.#missing.keys()]);
    const fresh = await this.#callbacks.after(this.#newest, most);
    this.#giveUp();
    if (fresh.length === 0 && late.length === 0) await this.#detectReset();
    const read = [...late, ...fresh].map((row) => {
      this.#note(row.id);
      return { row, position: formatPosition(this.position) };
    });
    return { read, isBehind: fresh.length === most };
  }

  skipTo(newest: number): void {
    this.#newest = Math.max(this.#newest, newest);
  }

  #note(id: number): void {
    this.#missing.delete(id);
    if (id <= this.#newest) return;
    if (id - this.#newest <= MAX_SKIPPED_IDS) {
      for (let between = this.#newest + 1; between < id; between += 1) this.#missing.set(between, performance.now());
    }
    this.#newest = id;
  }

  #giveUp(): void {
    const before = performance.now() - MAX_COMMIT_DELAY_MS;
    for (const [id, since] of this.#missing) {
      if (since > before && this.#missing.size <= MAX_MISSING) break;
      this.#missing.delete(id);
    }
  }

  /** SQLite reuses ids after the newest row was deleted, and a database may be restored to an earlier state. */
  async #detectReset(): Promise<void> {
    const [newest = 0] = await this.#callbacks.newestIds(1);
    if (newest < this.#newest) this.#newest = newest;
  }
}

/**
 * A position in the callback log. On PostgreSQL a row may become visible after one with a higher id. So the position
 * has the newest id and the missing ones below it.
 */
export interface LogPosition {
  readonly newest: number;
  /** Ids below `newest` that may still come. */
  readonly missing: readonly number[];
}

/** With more missing ids the position is written as that before them, and a few rows come twice. */
const MAX_LISTED = 16;

/** As the `id` of a server-sent event: `102`, or `102-99-101` where 99 and 101 may still come. */
export function formatPosition({ newest, missing }: LogPosition): string {
  if (missing.length > MAX_LISTED) return String(Math.min(...missing) - 1);
  return [newest, ...missing].join("-");
}

export function parsePosition(text: string): LogPosition | undefined {
  if (!/^\d{1,15}(?:-\d{1,15}){0,16}$/.test(text)) return undefined;
  const [newest = 0, ...missing] = text.split("-").map(Number);
  return { newest, missing };
}
