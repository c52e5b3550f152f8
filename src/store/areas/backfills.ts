import { type RawBuilder, sql } from "kysely";
import { type EventKey, keyText } from "../../domain/index.ts";
import { ADVISORY_LOCKS } from "../advisory-locks.ts";
import { Area, assign, equal, type IdRow, insert, type Query, rowList, run } from "../database.ts";
import type { BulkReplayState } from "./bulk-replays.ts";
import { type NewAcceptedEvent, UNRUN } from "./failures.ts";
import { cutLeases, isUnleased, type Lease, NO_LEASE } from "./lease.ts";
import type { OriginalPosition } from "./originals.ts";
import { NEWEST, type Page } from "./paging.ts";
import { ErasedMeanwhile, isLatestErasure } from "./settings.ts";
import type { StoredEventPlace } from "./stored-events.ts";

/** All up to here is done. `late`: a second pass over what was still to commit during the first one. */
export type BackfillPosition =
  | { readonly phase: "stored"; readonly after?: StoredEventPlace }
  | { readonly phase: "originals" | "late"; readonly after?: OriginalPosition };

/** Of events, once for each handler. */
export interface BackfillCounts {
  /** Accepted for their handlers; in a dry run those that would be. */
  readonly accepted: number;
  readonly acceptedByType: Readonly<Record<string, number>>;
  /** Handled, accepted or failed under the key of the handler before. */
  readonly alreadyTaken: number;
  /** Handled by a handler that has another name now, or is gone; they were not run again. */
  readonly heldBack: number;
  /** By the names under which they were handled: `stripe#audit`. */
  readonly heldBackByHandler: Readonly<Record<string, number>>;
  /** Without a handler of their type, or left out by the source's filters. */
  readonly ignored: number;
  readonly ignoredByType: Readonly<Record<string, number>>;
  /** Their payloads were erased. */
  readonly erased: number;
  /** Past the time for which their source keeps originals. */
  readonly expired: number;
  /** No configured key decrypts them, or today's contract cannot read them. A block of originals counts as one. */
  readonly unreadable: number;
}

export interface NewBackfill {
  /** As an operator names it: `stripe` for all handlers of the source, `stripe#audit` for those of a name. */
  readonly handler: string;
  readonly eventType: string | null;
  /** Of the oldest events, in ISO 8601. */
  readonly since: string;
  /** Whether events that a handler of a former name has handled run again. */
  readonly includesFormer: boolean;
  /** How many events may be accepted in a second. */
  readonly perSecond: number;
  readonly createdBy: string;
}

/** The history of a handler's types, on its way to the handler. */
export interface StoredBackfill extends NewBackfill {
  readonly id: number;
  readonly state: BulkReplayState;
  readonly position: BackfillPosition;
  readonly counts: BackfillCounts;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** `isNew`: it was started now. */
export interface StartedBackfill {
  readonly backfill: StoredBackfill;
  readonly isNew: boolean;
}

/** Who works on it, until then. */
interface BackfillHolder {
  readonly id: number;
  readonly owner: string;
  readonly until: Date;
  readonly erasures?: string | undefined;
}

export interface BackfillProgress extends Pick<StoredBackfill, "position" | "counts"> {
  /** No process goes on before. */
  readonly dueAt?: Date;
}

export const NO_BACKFILL_COUNTS: BackfillCounts = {
  accepted: 0,
  acceptedByType: {},
  alreadyTaken: 0,
  heldBack: 0,
  heldBackByHandler: {},
  ignored: 0,
  ignoredByType: {},
  erased: 0,
  expired: 0,
  unreadable: 0,
};

/** An event for one of its handlers, under whose key it is accepted. */
export interface BackfilledEvent extends Omit<NewAcceptedEvent, "nextAttemptAt" | "lease" | "original"> {
  readonly receivedAt: Date;
}

const COLUMNS = sql`id, handler, event_type, since, includes_former, per_second, created_by, state, position, counts,
  started_at, ended_at`;
/** The condition of the index, word for word. */
const RUNNING = sql`state = 'running'`;

/** Another process has the lease, and all that was done in the transaction is undone. */
class LeaseLost extends Error {}

export class Backfills extends Area {
  /**
   * Starts a backfill, unless another one is still to give events to one of its handlers. That one is returned then. One in
   * its second pass is none: it looks only at what was at work as it started.
   * @param lease of the process that works on it from the start; without one a receiver takes it up
   */
  start(asked: NewBackfill, now: Date, lease?: Lease): Promise<StartedBackfill> {
    const { dialect } = this.database;
    return this.database.transact(async (query) => {
      if (dialect === "postgres") await run(query, sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.backfills})`);
      const unfinished = sql`SELECT ${COLUMNS} FROM oncehook_backfills WHERE state IN ('running', 'paused') ORDER BY id`;
      const { rows } = await run<BackfillRow>(query, unfinished);
      const other = rows.map(toBackfill).find((one) => one.position.phase !== "late" && isForSame(one, asked));
      if (other !== undefined) return { backfill: other, isNew: false };
      return { backfill: await this.insert(query, asked, now, lease), isNew: true };
    });
  }

  /** Starts one, whatever else runs. */
  create(asked: NewBackfill, now: Date, lease?: Lease): Promise<StoredBackfill> {
    return this.insert(this.database.write, asked, now, lease);
  }

  private async insert(query: Query, asked: NewBackfill, now: Date, lease?: Lease): Promise<StoredBackfill> {
    const { includesFormer, ...given } = asked;
    const row = {
      ...given,
      includesFormer: Number(includesFormer),
      state: "running",
      position: JSON.stringify({ phase: "stored" } satisfies BackfillPosition),
      counts: JSON.stringify(NO_BACKFILL_COUNTS),
      dueAt: now,
      leaseOwner: lease?.owner ?? null,
      leasedUntil: lease?.until ?? null,
      startedAt: now,
    };
    const inserted = sql`${insert("oncehook_backfills", row)} RETURNING ${COLUMNS}`;
    const { rows } = await run<BackfillRow>(query, inserted);
    return toBackfill(rows[0] as BackfillRow);
  }

  async get(id: number): Promise<StoredBackfill | undefined> {
    const [row] = await this.read<BackfillRow>`SELECT ${COLUMNS} FROM oncehook_backfills WHERE id = ${id}`;
    return row && toBackfill(row);
  }

  async list({ limit, before = NEWEST }: Page): Promise<StoredBackfill[]> {
    const rows = await this.read<BackfillRow>`SELECT ${COLUMNS} FROM oncehook_backfills
      WHERE id < ${before} ORDER BY id DESC LIMIT ${limit}`;
    return rows.map(toBackfill);
  }

  /** Pauses, resumes or cancels it; `ended` when it is over already. */
  async change(id: number, to: Exclude<BulkReplayState, "done">, now: Date) {
    const changes = assign({ state: to, endedAt: to === "cancelled" ? now : null });
    const changed = await this.update(this.database.write, changes, sql`id = ${id} AND state IN ('running', 'paused')`);
    return changed ?? ((await this.get(id)) === undefined ? "absent" : "ended");
  }

  /** Leases the oldest running one that is due and that no process holds. A round that finds none writes nothing. */
  async lease({ owner, now, until }: Lease): Promise<StoredBackfill | undefined> {
    const free = sql`${RUNNING} AND due_at <= ${now} AND ${isUnleased(now)}`;
    const [oldest] = await this.read<IdRow>`SELECT id FROM oncehook_backfills WHERE ${free} ORDER BY id LIMIT 1`;
    if (oldest === undefined) {
      const leaseMs = until.getTime() - now.getTime();
      await cutLeases(this.database, { table: "oncehook_backfills", where: RUNNING }, leaseMs, now);
      return undefined;
    }
    const taken = assign({ leaseOwner: owner, leasedUntil: until });
    return this.update(this.database.write, taken, sql`id = ${oldest.id} AND ${free}`);
  }

  /**
   * Accepts events and moves the position, in one transaction: a process that is killed has done both or neither. An event
   * that has a record or a failure under its key stays as it is.
   * @param progressOf gets the keys of those that were accepted now
   * @param of.erasures as they were before the events were read
   * @returns undefined where the lease was lost: nothing is accepted then
   * @throws ErasedMeanwhile where some may have been erased since; nothing is accepted then
   */
  async accept(
    { id, owner, until, erasures }: BackfillHolder,
    events: readonly BackfilledEvent[],
    progressOf: (accepted: ReadonlySet<string>) => BackfillProgress,
    now: Date,
  ): Promise<StoredBackfill | undefined> {
    try {
      return await this.database.transact(async (query) => {
        if (events.length > 0 && erasures !== undefined && !(await isLatestErasure(query, this.database, erasures)))
          throw new ErasedMeanwhile();
        const accepted = new Set<string>();
        for (const event of events) if (await insertAccepted(query, event, now)) accepted.add(keyText(event));
        // A delivery may have run some of them since they were looked up.
        for (const key of await this.removeRecorded(query, events)) accepted.delete(keyText(key));
        const { position, counts, dueAt } = progressOf(accepted);
        const moved = { position: JSON.stringify(position), counts: JSON.stringify(counts), leasedUntil: until };
        const changes = assign(dueAt === undefined ? moved : { ...moved, dueAt });
        const advanced = await this.update(query, changes, equal({ id, leaseOwner: owner }));
        if (advanced === undefined) throw new LeaseLost();
        return advanced;
      });
    } catch (error) {
      if (error instanceof LeaseLost) return undefined;
      throw error;
    }
  }

  /** Ends it unless it was paused or cancelled meanwhile. */
  finish(id: number, owner: string, now: Date): Promise<StoredBackfill | undefined> {
    const changes = sql`state = 'done', ended_at = ${now}, ${NO_LEASE}`;
    return this.update(this.database.write, changes, sql`${equal({ id, leaseOwner: owner })} AND ${RUNNING}`);
  }

  async release(id: number, owner: string): Promise<void> {
    await this.update(this.database.write, NO_LEASE, equal({ id, leaseOwner: owner }));
  }

  /** The sources of the keys under which each of these events has a record, or a failure, by its id. */
  async keysOf(eventIds: readonly string[]): Promise<readonly (EventKey & { readonly isHandled: boolean })[]> {
    if (eventIds.length === 0) return [];
    const ids = rowList(
      this.database.dialect,
      { event_id: "text" },
      [...new Set(eventIds)].map((event_id) => ({ event_id })),
    );
    const rows = await this.read<EventKey & { isHandled: number }>`
      SELECT r.source, r.event_id, 1 AS is_handled FROM ${ids} AS k
        JOIN oncehook_records AS r ON r.event_id = k.event_id
      UNION ALL SELECT f.source, f.event_id, 0 AS is_handled FROM ${ids} AS k
        JOIN oncehook_failures AS f ON f.event_id = k.event_id`;
    return rows.map((row) => ({ ...row, isHandled: row.isHandled === 1 }));
  }

  /** How many accepted events wait to be run, counted up to a bound. */
  async waiting(most: number): Promise<number> {
    const [row] = await this.read<{ count: number }>`SELECT count(*) AS count FROM
      (SELECT 1 FROM oncehook_failures WHERE state = 'accepted' LIMIT ${sql.lit(most)}) AS waiting`;
    return row?.count ?? 0;
  }

  private async removeRecorded(query: Query, events: readonly EventKey[]): Promise<readonly EventKey[]> {
    if (events.length === 0) return [];
    const keys = rowList(
      this.database.dialect,
      { event_id: "text", source: "text" },
      events.map(({ eventId, source }) => ({ event_id: eventId, source })),
    );
    const recorded = sql`SELECT f.id FROM ${keys} AS k
      JOIN oncehook_records AS r ON r.event_id = k.event_id AND r.source = k.source AND r.status = 'completed'
      JOIN oncehook_failures AS f ON f.event_id = k.event_id AND f.source = k.source AND f.state = 'accepted'`;
    const removed = sql`DELETE FROM oncehook_failures WHERE id IN (${recorded}) RETURNING source, event_id`;
    return (await run<EventKey>(query, removed)).rows;
  }

  private async update(query: Query, changes: RawBuilder<unknown>, where: RawBuilder<unknown>) {
    const statement = sql`UPDATE oncehook_backfills SET ${changes} WHERE ${where} RETURNING ${COLUMNS}`;
    const { rows } = await run<BackfillRow>(query, statement);
    return rows[0] && toBackfill(rows[0]);
  }
}

async function insertAccepted(query: Query, { receivedAt, ...event }: BackfilledEvent, now: Date): Promise<boolean> {
  const row = { ...event, ...UNRUN, firstFailedAt: receivedAt, lastFailedAt: now, nextAttemptAt: now };
  const statement = sql`${insert("oncehook_failures", row)} ON CONFLICT (event_id, source) DO NOTHING`;
  return (await run(query, statement)).changes > 0;
}

/** Whether two backfills give events to one handler: `stripe` stands for all of its handlers, `stripe#audit` too. */
function isForSame(one: NewBackfill, other: NewBackfill): boolean {
  const [a, b] = [one.handler, other.handler];
  const isSameHandler = a === b || a.startsWith(`${b}#`) || b.startsWith(`${a}#`);
  return isSameHandler && (one.eventType === null || other.eventType === null || one.eventType === other.eventType);
}

interface BackfillRow extends Omit<StoredBackfill, "position" | "counts" | "includesFormer"> {
  readonly position: string;
  readonly counts: string;
  readonly includesFormer: number;
}

function toBackfill(row: BackfillRow): StoredBackfill {
  const { position, counts, includesFormer } = row;
  return {
    ...row,
    includesFormer: includesFormer === 1,
    position: JSON.parse(position),
    counts: { ...NO_BACKFILL_COUNTS, ...JSON.parse(counts) },
  };
}
