import { sql } from "kysely";
import {
  type AfterResponse,
  type EventKey,
  type FailedFirstAttempt,
  keyText,
  NO_LATENCY,
  OVERVIEW_RANGES,
  type OverviewRange,
  periodStart,
  type RollupCount,
  sourceOf,
  withoutHandler,
} from "../../domain/index.ts";
import { Area, type Query, rowList, run } from "../database.ts";

export interface RollupSlot extends RollupCount {
  /** When it began, in seconds since the epoch. */
  readonly slot: number;
}

/** A request is answered by then: an older row is of another delivery, whose event a backfill has accepted again. */
const ACCEPTED_WITHIN_MS = 600_000;
/** A row may hold a whole body. */
const ROWS_PER_STEP = 50;
const FAILED = { source: "text", event_id: "text", outcome: "text", since: "timestamptz" } as const;

const KEY = { step_seconds: "bigint", slot: "bigint", source: "text", outcome: "text", bucket: "bigint" } as const;
const COLUMNS = { ...KEY, count: "bigint", highest_ms: "float8", last_at: "timestamptz" } as const;

/** The outcomes of callbacks, counted by time; see `OVERVIEW_RANGES`. */
export class Rollups extends Area {
  /**
   * Adds to the counts of the periods that hold this moment, all of them or none. The statement's text is the same for any
   * number of counts. All processes add in one order, so that no two of them wait for each other's rows.
   */
  add(at: Date, counts: readonly RollupCount[]): Promise<void> {
    return this.addTo(this.database.write, at, counts);
  }

  /**
   * Gives the callback of each event its outcome. It is counted a second time, in the period in which it came. So a count
   * and its list agree (decision 0119). A callback has one outcome, however many of its handlers failed.
   * @returns those whose callback has no row yet
   */
  async addFailed(attempts: readonly FailedFirstAttempt[]): Promise<readonly FailedFirstAttempt[]> {
    const byCallback = new Map(attempts.map((one) => [callbackOf(one), one]));
    const waiting = new Map(byCallback);
    const left = [...byCallback.values()];
    while (left.length > 0) {
      const step = left.splice(0, ROWS_PER_STEP);
      const found = await this.database.transact((query) => this.markFailed(query, step), { mayWait: true });
      for (const one of found) waiting.delete(callbackOf(one));
    }
    return [...waiting.values()];
  }

  private async markFailed(query: Query, attempts: readonly FailedFirstAttempt[]) {
    const given = attempts.map(({ source, eventId, outcome, acceptedAt }) => ({
      ...{ source: withoutHandler(source), event_id: eventId, outcome },
      since: new Date(acceptedAt.getTime() - ACCEPTED_WITHIN_MS).toISOString(),
    }));
    const wanted = sql`SELECT given.outcome AS outcome, (SELECT max(id) FROM oncehook_callbacks
        WHERE event_id = given.event_id AND with_record = 0 AND source = given.source AND outcome = 'accepted'
        AND method <> 'RECONCILE' AND received_at >= given.since) AS id
      FROM ${rowList(this.database.dialect, FAILED, given)} AS given`;
    const marked = sql`UPDATE oncehook_callbacks SET outcome = wanted.outcome FROM (${wanted}) AS wanted
      WHERE oncehook_callbacks.id = wanted.id AND oncehook_callbacks.outcome = 'accepted'
      RETURNING source, event_id, received_at, oncehook_callbacks.outcome AS outcome`;
    type Marked = EventKey & { readonly receivedAt: string; readonly outcome: AfterResponse };
    const { rows } = await run<Marked>(query, marked);
    for (const { source, receivedAt, outcome } of rows) {
      const count = { source: sourceOf({ source }), outcome, bucket: NO_LATENCY, count: 1 };
      await this.addTo(query, new Date(receivedAt), [count]);
    }
    return rows;
  }

  private async addTo(query: Query, at: Date, counts: readonly RollupCount[]): Promise<void> {
    if (counts.length === 0) return;
    const rows = Object.values(OVERVIEW_RANGES).flatMap(({ stepSeconds }) =>
      counts.map(({ source, outcome, bucket, count, highestMs, lastAt }) => {
        const key = { step_seconds: stepSeconds, slot: periodStart(at, stepSeconds), source, outcome, bucket };
        return { ...key, count, highest_ms: highestMs ?? null, last_at: lastAt ?? null };
      }),
    );
    // Without a condition SQLite would take ON for the one of a join.
    const added = sql`INSERT INTO oncehook_rollups
      (step_seconds, slot, source, outcome, bucket, count, highest_ms, last_at)
      SELECT step_seconds, slot, source, outcome, bucket, count, highest_ms, last_at
      FROM ${rowList(this.database.dialect, COLUMNS, rows)} AS given
      WHERE true ORDER BY 1, 2, 3, 4, 5
      ON CONFLICT (step_seconds, slot, source, outcome, bucket)
      DO UPDATE SET count = oncehook_rollups.count + excluded.count,
      highest_ms = CASE WHEN oncehook_rollups.highest_ms > excluded.highest_ms THEN oncehook_rollups.highest_ms
        WHEN oncehook_rollups.highest_ms IS NULL THEN NULL ELSE excluded.highest_ms END,
      last_at = CASE WHEN oncehook_rollups.last_at > excluded.last_at OR excluded.last_at IS NULL
        THEN oncehook_rollups.last_at ELSE excluded.last_at END`;
    await run(query, added);
  }

  /** The counts of a range, in its periods, from the one that begins at `from` (seconds since the epoch) on. */
  list(range: OverviewRange, from: number): Promise<readonly RollupSlot[]> {
    return this.read`SELECT slot, source, outcome, bucket, count, highest_ms, last_at FROM oncehook_rollups
      WHERE step_seconds = ${OVERVIEW_RANGES[range].stepSeconds} AND slot >= ${from}`;
  }

  /** Those of one source. */
  ofSource(range: OverviewRange, from: number, source: string): Promise<readonly RollupSlot[]> {
    return this.read`SELECT slot, source, outcome, bucket, count, highest_ms, last_at FROM oncehook_rollups
      WHERE step_seconds = ${OVERVIEW_RANGES[range].stepSeconds} AND slot >= ${from} AND source = ${source}`;
  }
}

function callbackOf({ source, eventId }: EventKey): string {
  return keyText({ source: withoutHandler(source), eventId });
}
