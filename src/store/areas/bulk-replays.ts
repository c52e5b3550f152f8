import { type RawBuilder, sql } from "kysely";
import type { EventKey } from "../../domain/index.ts";
import { Area, assign, equal, type IdRow, insert } from "../database.ts";
import { type FailureFilter, matching, statesOf } from "./failures.ts";
import { type BulkReplayFilter, bulkReplayName, HandledEvents } from "./handled-events.ts";
import { cutLeases, isUnleased, type Lease, NO_LEASE } from "./lease.ts";
import { NEWEST, type Page } from "./paging.ts";

export type BulkReplayState = "running" | "paused" | "cancelled" | "done";

/** Failures, or events that were handled and run again. */
export type BulkReplayScope = "failures" | "events";

export interface NewBulkReplay {
  /** Default: failures. */
  readonly scope?: BulkReplayScope;
  readonly filter: BulkReplayFilter;
  /** Why handled events are run again; null for failures. */
  readonly reason?: string | null;
  /** How many replays may start in a second. */
  readonly perSecond: number;
  readonly createdBy: string;
}

export interface BulkReplayCounts {
  readonly succeeded: number;
  /** Handled, discarded or deleted before they were replayed. */
  readonly alreadyHandled: number;
  readonly failed: number;
  /** Handled events without anything to run them from. */
  readonly skipped: number;
}

/** The events of a batch of handled ones, written down before it begins. */
export interface BatchAtWork {
  /** Of their records. */
  readonly ids: readonly number[];
  /** How often the process ended while the only one of them ran. */
  readonly ends: number;
}

/** The replay of every failure, or handled event, that matches a filter, one after the other. */
export interface StoredBulkReplay extends Required<NewBulkReplay>, BulkReplayCounts {
  readonly id: number;
  /** Left by a process that ended during it. */
  readonly atWork: BatchAtWork | null;
  readonly state: BulkReplayState;
  /** How many failures there were at the beginning. */
  readonly total: number;
  /** Failures with a higher id came later and are not replayed. */
  readonly upToId: number;
  /** The failures up to this id are done. */
  readonly afterId: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface DueReplay extends EventKey {
  /** Of the failure. */
  readonly id: number;
  /** Whether a process ended during its last attempt. */
  readonly isSuspect: boolean;
}

/** `FailureLeases.reschedule` has counted the failed ones, with the failure itself. */
export interface BulkReplayProgress extends Omit<BulkReplayCounts, "failed" | "skipped"> {
  readonly afterId: number;
}

const COLUMNS = sql`id, scope, filter, reason, per_second, created_by, state, total, succeeded, already_handled, failed,
  skipped, up_to_id, after_id, at_work, started_at, ended_at`;
/** The condition of the index, word for word. */
const RUNNING = sql`state = 'running'`;

export class BulkReplays extends Area {
  async create(bulk: NewBulkReplay, now: Date): Promise<StoredBulkReplay> {
    const { scope = "failures", filter, reason = null, perSecond, createdBy } = bulk;
    const range =
      scope === "events" ? await new HandledEvents(this.database).count(filter) : await this.countFailures(filter);
    const counts = { ...range, succeeded: 0, alreadyHandled: 0, failed: 0 };
    const asked = { scope, filter: JSON.stringify(filter), reason, perSecond, createdBy };
    const row = { ...asked, state: "running", startedAt: now };
    const { rows } = await this
      .write<BulkReplayRow>`${insert("oncehook_bulk_replays", { ...row, ...counts })} RETURNING ${COLUMNS}`;
    return toBulkReplay(rows[0] as BulkReplayRow);
  }

  async get(id: number): Promise<StoredBulkReplay | undefined> {
    const [row] = await this.read<BulkReplayRow>`SELECT ${COLUMNS} FROM oncehook_bulk_replays WHERE id = ${id}`;
    return row && toBulkReplay(row);
  }

  async list({ limit, before = NEWEST }: Page): Promise<StoredBulkReplay[]> {
    const rows = await this.read<BulkReplayRow>`SELECT ${COLUMNS} FROM oncehook_bulk_replays
      WHERE id < ${before} ORDER BY id DESC LIMIT ${limit}`;
    return rows.map(toBulkReplay);
  }

  /** Pauses, resumes or cancels it; `ended` when it is over already. */
  async change(
    id: number,
    to: Exclude<BulkReplayState, "done">,
    now: Date,
  ): Promise<StoredBulkReplay | "absent" | "ended"> {
    const changes = assign({ state: to, endedAt: to === "cancelled" ? now : null });
    const changed = await this.update(changes, sql`id = ${id} AND state IN ('running', 'paused')`);
    return changed ?? ((await this.get(id)) === undefined ? "absent" : "ended");
  }

  /** Leases the oldest running bulk replay that no process holds. A round that finds none writes nothing. */
  async lease({ owner, now, until }: Lease): Promise<StoredBulkReplay | undefined> {
    const free = sql`${RUNNING} AND ${isUnleased(now)}`;
    const [oldest] = await this.read<IdRow>`SELECT id FROM oncehook_bulk_replays WHERE ${free} ORDER BY id LIMIT 1`;
    if (oldest === undefined) {
      const leaseMs = until.getTime() - now.getTime();
      await cutLeases(this.database, { table: "oncehook_bulk_replays", where: RUNNING }, leaseMs, now);
      return undefined;
    }
    return this.update(assign({ leaseOwner: owner, leasedUntil: until }), sql`id = ${oldest.id} AND ${free}`);
  }

  /**
   * The next failures to try, by their ids. A failure names the bulk replay that tried it last, and an earlier one leaves it
   * out. Otherwise the two would try the same failures again and again.
   */
  async next(bulk: StoredBulkReplay, limit: number): Promise<DueReplay[]> {
    const { id, filter, afterId, upToId, startedAt } = bulk;
    // Once the row of the highest id is gone, SQLite gives that id to a later failure.
    const isFromBefore = this.database.dialect === "sqlite" ? sql`first_failed_at <= ${startedAt}` : sql`true`;
    const found = await Promise.all(
      statesOf(filter).map(
        (state) => this.read<DueReplay & { readonly crashes: number }>`SELECT id, source, event_id, crashes
          FROM oncehook_failures WHERE ${matching(state, filter)} AND id > ${afterId} AND id <= ${upToId}
          AND (bulk_replay_id IS NULL OR bulk_replay_id < ${id}) AND ${isFromBefore} ORDER BY id LIMIT ${limit}`,
      ),
    );
    return found
      .flat()
      .map(({ crashes, ...failure }) => ({ ...failure, isSuspect: crashes > 0 }))
      .sort((one, other) => one.id - other.id)
      .slice(0, limit);
  }

  /** Adds to its counts and extends the lease; undefined where that was lost, and then nothing is counted. */
  advance(
    id: number,
    owner: string,
    { afterId, succeeded, alreadyHandled }: BulkReplayProgress,
    until: Date,
  ): Promise<StoredBulkReplay | undefined> {
    const changes = sql`after_id = ${afterId}, succeeded = succeeded + ${succeeded},
      already_handled = already_handled + ${alreadyHandled}, leased_until = ${until}, at_work = NULL`;
    return this.update(changes, equal({ id, leaseOwner: owner }));
  }

  /** Extends the lease while a batch is at work. */
  async renew(id: number, owner: string, until: Date): Promise<void> {
    await this.update(assign({ leasedUntil: until }), equal({ id, leaseOwner: owner }));
  }

  /** Writes down the events that are about to run: where the process ends, they are suspect. */
  async beginBatch(id: number, owner: string, batch: BatchAtWork): Promise<void> {
    await this.update(assign({ atWork: JSON.stringify(batch) }), equal({ id, leaseOwner: owner }));
  }

  /**
   * Ends it unless it was paused or cancelled meanwhile. Failures that were gone before their replay count as handled. The handled
   * events that it ran have rows, so that their count is exact.
   */
  finish(id: number, owner: string, now: Date): Promise<StoredBulkReplay | undefined> {
    const ran = sql`(CASE scope WHEN 'events' THEN (SELECT count(*) FROM oncehook_event_replays AS e
      WHERE e.replay = ${bulkReplayName(id)}) ELSE succeeded END)`;
    const changes = sql`state = 'done', ended_at = ${now}, ${NO_LEASE}, at_work = NULL, succeeded = ${ran},
      already_handled = CASE WHEN total > ${ran} + already_handled + failed + skipped
        THEN total - ${ran} - failed - skipped ELSE already_handled END`;
    return this.update(changes, sql`${equal({ id, leaseOwner: owner })} AND ${RUNNING}`);
  }

  async release(id: number, owner: string): Promise<void> {
    await this.update(sql`${NO_LEASE}, at_work = NULL`, equal({ id, leaseOwner: owner }));
  }

  private async update(changes: RawBuilder<unknown>, where: RawBuilder<unknown>) {
    const { rows } = await this.write<BulkReplayRow>`UPDATE oncehook_bulk_replays SET ${changes}
      WHERE ${where} RETURNING ${COLUMNS}`;
    return rows[0] && toBulkReplay(rows[0]);
  }

  private async countFailures(filter: FailureFilter) {
    const [newest] = await this.read<IdRow>`SELECT id FROM oncehook_failures WHERE id > 0 ORDER BY id DESC LIMIT 1`;
    const upToId = newest?.id ?? 0;
    const counts = await Promise.all(
      statesOf(filter).map(
        (state) => this.read<{ count: number }>`SELECT count(*) AS count FROM oncehook_failures
          WHERE ${matching(state, filter)} AND id <= ${upToId}`,
      ),
    );
    return { afterId: 0, upToId, total: counts.reduce((sum, [row]) => sum + (row?.count ?? 0), 0) };
  }
}

type BulkReplayRow = Omit<StoredBulkReplay, "filter" | "atWork"> & {
  readonly filter: string;
  readonly atWork: string | null;
};

function toBulkReplay({ filter, atWork, ...row }: BulkReplayRow): StoredBulkReplay {
  return { ...row, filter: JSON.parse(filter), atWork: atWork === null ? null : JSON.parse(atWork) };
}
