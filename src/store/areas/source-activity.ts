import { sql } from "kysely";
import { Area, type IdRow, select } from "../database.ts";
import { idsBetween } from "./callback-log.ts";
import { boundedSearch, NEWEST, type StepSizes } from "./paging.ts";

export interface SlowCallback extends IdRow {
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly eventType: string | null;
  readonly eventId: string | null;
  readonly outcome: string;
  readonly responseStatus: number;
  readonly processingMs: number;
}

/** The callbacks of a source from one time up to but not including another, in ISO 8601. */
export interface SourcePeriod {
  readonly source: string;
  readonly from: string;
  readonly to: string;
}

/** The ignored callbacks of one type, among the newest. */
export interface IgnoredType {
  readonly eventType: string | null;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

/** The latency lies behind the bodies in a row: a step begins with few of them. */
const STEPS: StepSizes = { first: 64, most: 2_000 };

/** The part of one source in the callback log, by reads that are bounded whatever the log holds. */
export class SourceActivity extends Area {
  /** The slowest callbacks of events first, among those that a time budget allows to read, newest first. */
  async slowest({ source, from, to }: SourcePeriod, { limit, budgetMs }: { limit: number; budgetMs: number }) {
    const range = await idsBetween(this.database, { from, to }, NEWEST);
    const callbacks: SlowCallback[] = [];
    const step = async (below: number, size: number) => {
      const [last] = await this.read<IdRow>`SELECT id FROM oncehook_callbacks
        WHERE id < ${below} AND id >= ${range.from} ORDER BY id DESC LIMIT 1 OFFSET ${size - 1}`;
      const rows = await this.read<SlowCallback>`
        SELECT id, received_at, event_type, event_id, outcome, response_status, processing_ms FROM oncehook_callbacks
        WHERE id < ${below} AND id >= ${last?.id ?? range.from} AND source = ${source}
          AND received_at >= ${from} AND received_at < ${to} AND outcome NOT IN ('endpoint_check', 'handshake')
        ORDER BY processing_ms DESC, id DESC LIMIT ${limit}`;
      callbacks.push(...rows);
      callbacks.sort((one, other) => other.processingMs - one.processingMs).splice(limit);
      return { rows: [] as SlowCallback[], reached: last?.id };
    };
    const search = { limit, before: range.below, budgetMs };
    const { next } = await boundedSearch(this.database.dialect, search, step, STEPS);
    return { callbacks, isComplete: next === null };
  }

  /**
   * The types that no handler took, most frequent first.
   * @param limit of the ignored callbacks, of all sources, that are looked at: the newest
   * @returns `since` is the oldest of them, where there may be more
   */
  async ignoredTypes(source: string, limit: number) {
    const groups = await this.read<IgnoredType & { readonly source: string | null }>`
      SELECT source, event_type, count(*) AS count, min(received_at) AS first_at, max(received_at) AS last_at
      FROM ${newestOf("ignored", limit)} AS newest GROUP BY source, event_type ORDER BY count DESC, event_type`;
    const read = groups.reduce((sum, { count }) => sum + count, 0);
    const oldest = groups.map(({ firstAt }) => firstAt).sort()[0];
    return {
      types: groups.filter((group) => group.source === source).map(({ source: _, ...type }): IgnoredType => type),
      since: read < limit ? null : (oldest ?? null),
    };
  }

  /** Events that a reconciliation has found, among the newest accepted callbacks of all sources. */
  async reconciled(source: string, limit: number): Promise<{ readonly count: number; readonly lastAt: string | null }> {
    const found = sql`SELECT count(*) AS count, max(received_at) AS last_at FROM ${newestOf("accepted", limit)} AS newest
      WHERE source = ${source} AND method = 'RECONCILE'`;
    const [row] = await select<{ count: number; lastAt: string | null }>(this.database, found);
    return row ?? { count: 0, lastAt: null };
  }
}

/** By the index of rare outcomes, whose condition is repeated, or it would not be used. */
function newestOf(outcome: "ignored" | "accepted", limit: number) {
  return sql`(SELECT source, event_type, method, received_at FROM oncehook_callbacks
    WHERE outcome = ${sql.lit(outcome)} AND outcome <> 'success' AND outcome <> 'already_processed'
    ORDER BY id DESC LIMIT ${limit})`;
}
