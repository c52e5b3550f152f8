import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { EventKey } from "../../domain/index.ts";
import { Area, equal, type IdRow, insert, run, storableText } from "../database.ts";
import type { FailureFilter } from "./failures.ts";
import { idsByTime, NEWEST, type Page } from "./paging.ts";
import { longestRunMs } from "./settings.ts";

/** Selects failures, or handled events by their source, type and time. */
export interface BulkReplayFilter extends FailureFilter {
  /** Of events that were handled then or later, in ISO 8601. */
  readonly from?: string | undefined;
  /** Of events that were handled before it. */
  readonly to?: string | undefined;
}

/** The records of a filter: those above the first id, up to the last one. */
interface RecordRange {
  readonly filter: BulkReplayFilter;
  readonly afterId: number;
  readonly upToId: number;
}

/** A handled event that a bulk replay is to run. */
export interface HandledEvent extends EventKey {
  /** Of its record. */
  readonly id: number;
  readonly eventType: string;
}

/** An event that a bulk replay did not run again: it failed, or there was nothing to run it from. */
export interface UnreplayedEvent extends EventKey {
  readonly id: number;
  readonly eventType: string;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: "failed" | "skipped";
  /** Of docs/errors.md, or the reason of one that was skipped. */
  readonly code: string;
  /** Masked. */
  readonly error: string;
}

export type NewUnreplayedEvent = Omit<UnreplayedEvent, "id" | "at">;

/** Rows that a step reads; most filters leave few of them over. */
const STEP = 1_000;
/** Ids follow the time of a record but for this, and for the longest run. */
const APART_MS = 15_000;

/** The name by which the rows of its events tell a bulk replay from others. */
export const bulkReplayName = (id: number): string => `bulk:${id}`;

/** Handled events in the order of their records, for bulk replays. */
export class HandledEvents extends Area {
  /** How many a filter finds, and the ids of their records: above the first, up to the last. */
  async count(filter: BulkReplayFilter): Promise<{ afterId: number; upToId: number; total: number }> {
    const range = await this.rangeOf(filter);
    let total = 0;
    for (let after = range.afterId; after < range.upToId; await nextTurn()) {
      const [step] = await this.read<{ last: number | null; matched: number }>`
        SELECT max(id) AS last, count(CASE WHEN status = 'completed' AND ${matching(filter)} THEN 1 END) AS matched
        FROM (SELECT id, source, event_type, status, created_at FROM oncehook_records
          WHERE id > ${after} AND id <= ${range.upToId} ORDER BY id LIMIT ${sql.lit(STEP)}) AS r`;
      total += step?.matched ?? 0;
      after = step?.last ?? range.upToId;
    }
    return { ...range, total };
  }

  /**
   * The next ones that this bulk replay has neither run nor noted.
   * @param now a later record is of an earlier time, before the clock was set back
   */
  async next(
    bulk: RecordRange & { readonly id: number; readonly startedAt: string },
    limit: number,
    now: Date,
  ): Promise<HandledEvent[]> {
    const { id, startedAt, upToId } = bulk;
    // Once the row of the highest id is gone, SQLite gives that id to a later record. Those above are later ones, too.
    const last = sql`(SELECT id FROM oncehook_records WHERE id <= ${upToId}
      AND (created_at <= ${startedAt} OR created_at > ${new Date(now.getTime() + APART_MS)}) ORDER BY id DESC LIMIT 1)`;
    const isFromBefore = this.database.dialect === "sqlite" ? sql`r.id <= ${last}` : sql`true`;
    const isNew = sql`${isFromBefore} AND NOT EXISTS (SELECT 1 FROM oncehook_event_replays AS e
        WHERE e.event_id = r.event_id AND e.source = r.source AND e.replay = ${bulkReplayName(id)})
      AND NOT EXISTS (SELECT 1 FROM oncehook_unreplayed_events AS u
        WHERE u.event_id = r.event_id AND u.source = r.source AND u.bulk_replay_id = ${id})`;
    for await (const rows of this.walk(bulk, isNew, limit)) if (rows.length > 0) return rows;
    return [];
  }

  /** Notes an event that was not run, and counts it in the same transaction: once, whatever process ends. */
  async noteUnreplayed(bulkReplayId: number, event: NewUnreplayedEvent, now: Date): Promise<void> {
    const { source, eventId, eventType, kind, code } = event;
    const row = { bulkReplayId, source, eventId, eventType, at: now, kind, code, error: storableText(event.error) };
    const noted = sql`${insert("oncehook_unreplayed_events", row)}
      ON CONFLICT (bulk_replay_id, event_id, source) DO NOTHING`;
    const counter = sql.ref(kind);
    await this.database.transact(async (query) => {
      if ((await run(query, noted)).changes === 0) return;
      await run(query, sql`UPDATE oncehook_bulk_replays SET ${counter} = ${counter} + 1 WHERE id = ${bulkReplayId}`);
    });
  }

  /** Those of a bulk replay that were not run, newest first. */
  async unreplayed(
    bulkReplayId: number,
    kind: UnreplayedEvent["kind"] | undefined,
    { before = NEWEST, limit }: Page,
  ): Promise<UnreplayedEvent[]> {
    const rows = await this.read<UnreplayedEvent>`SELECT id, source, event_id, event_type, at, kind, code, error
      FROM oncehook_unreplayed_events WHERE ${equal({ bulkReplayId, kind })} AND id < ${before}
      ORDER BY id DESC LIMIT ${limit}`;
    return [...rows];
  }

  /** In steps, with a turn of the event loop between: a filter may leave nothing of a million records. */
  private async *walk(
    { filter, afterId, upToId }: RecordRange,
    isWanted: RawBuilder<unknown>,
    limit: number,
  ): AsyncGenerator<HandledEvent[]> {
    for (let after = afterId; after < upToId; await nextTurn()) {
      const step = sql`SELECT id FROM oncehook_records WHERE id > ${after} AND id <= ${upToId}
        ORDER BY id LIMIT 1 OFFSET ${sql.lit(STEP - 1)}`;
      const [last] = (await run<IdRow>(this.database.read, step)).rows;
      const to = last?.id ?? upToId;
      yield (await this.read<HandledEvent>`SELECT id, source, event_id, event_type FROM oncehook_records AS r
        WHERE id > ${after} AND id <= ${to} AND status = 'completed' AND ${matching(filter)} AND ${isWanted}
        ORDER BY id LIMIT ${limit}`) as HandledEvent[];
      after = to;
    }
  }

  /** Ids follow the time, so that a time bounds them. */
  private async rangeOf({ from, to }: BulkReplayFilter): Promise<Pick<RecordRange, "afterId" | "upToId">> {
    const ids = await idsByTime(this.database, "oncehook_records", "created_at");
    const apartMs = APART_MS + (await longestRunMs(this.database));
    const firstSince = (time: string, shiftMs: number) =>
      ids.firstSince(new Date(Date.parse(time) + shiftMs).toISOString());
    return {
      afterId: from === undefined ? 0 : (await firstSince(from, -apartMs)) - 1,
      upToId: (to === undefined ? ids.below : await firstSince(to, apartMs)) - 1,
    };
  }
}

/** A source stands for those of its tenants too, but not for its handlers that have a name. */
function matching({ source, eventType, from, to }: BulkReplayFilter): RawBuilder<unknown> {
  const conditions = [equal({ eventType })];
  if (source !== undefined) {
    const prefix = `${source}/`;
    const ofTenant = sql`(substr(source, 1, ${sql.lit(prefix.length)}) = ${prefix} AND source NOT LIKE '%#%')`;
    conditions.push(sql`(source = ${source} OR ${ofTenant})`);
  }
  if (from !== undefined) conditions.push(sql`created_at >= ${new Date(from)}`);
  if (to !== undefined) conditions.push(sql`created_at < ${new Date(to)}`);
  return sql.join(conditions, sql` AND `);
}
