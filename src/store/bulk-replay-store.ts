import type { EventKey } from "../domain/index.ts";
import type { FailureFilter } from "./failure-store.ts";
import type { Lease } from "./lease.ts";
import type { Page } from "./page.ts";

export type BulkReplayState = "running" | "paused" | "cancelled" | "done";

export interface NewBulkReplay {
  readonly filter: FailureFilter;
  /** How many replays may begin in a second. */
  readonly perSecond: number;
  /** Who asked for it. */
  readonly by: string;
}

/** How its replays ended. */
export interface BulkReplayCounts {
  readonly succeeded: number;
  /** Handled, discarded or gone before their turn came. */
  readonly already: number;
  readonly failed: number;
}

/** The replay of every failure that a filter finds, one after the other. */
export interface StoredBulkReplay extends NewBulkReplay, BulkReplayCounts {
  readonly id: number;
  readonly state: BulkReplayState;
  /** How many failures there were at the beginning. */
  readonly total: number;
  /** Failures with a higher id came later, and are none of its business. */
  readonly upToId: number;
  /** It is done with the failures up to this id. */
  readonly afterId: number;
  /** ISO 8601. */
  readonly begunAt: string;
  readonly endedAt: string | null;
}

/** A failure whose turn comes. */
export interface DueReplay extends EventKey {
  /** Of the failure. */
  readonly id: number;
  /** Whether a process ended during its last attempt. */
  readonly isSuspect: boolean;
}

/** What failed was counted with the failure itself (`FailureStore.reschedule`). */
export interface BulkReplayProgress extends Omit<BulkReplayCounts, "failed"> {
  readonly afterId: number;
}

export interface BulkReplayStore {
  begin(bulk: NewBulkReplay, now: Date): Promise<StoredBulkReplay>;
  get(id: number): Promise<StoredBulkReplay | undefined>;
  list(page: Page): Promise<StoredBulkReplay[]>;
  /** Pauses, resumes or cancels it; `ended` when it is over already. */
  change(
    id: number,
    to: Exclude<BulkReplayState, "done">,
    now: Date,
  ): Promise<StoredBulkReplay | "absent" | "ended">;
  /** The oldest one that runs and that nobody works on. */
  lease(lease: Lease): Promise<StoredBulkReplay | undefined>;
  /** The next failures that it has not tried, by their ids. */
  next(bulk: StoredBulkReplay, limit: number): Promise<DueReplay[]>;
  /** Adds to its counts and keeps the lease; undefined where that was lost, and then nothing is counted. */
  advance(
    id: number,
    owner: string,
    progress: BulkReplayProgress,
    until: Date,
  ): Promise<StoredBulkReplay | undefined>;
  /** Ends it, unless somebody has paused or cancelled it meanwhile; what was not replayed was gone. */
  finish(id: number, owner: string, now: Date): Promise<StoredBulkReplay | undefined>;
  release(id: number, owner: string): Promise<void>;
}
