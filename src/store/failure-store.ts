import type { EventKey, FaultCode, RetryPolicy } from "../domain/index.ts";
import type { Lease } from "./lease.ts";
import type { Found, Page, Search } from "./page.ts";

/** An event whose attempts have failed, waiting for its retry or for a person. */
export interface StoredFailure extends EventKey {
  readonly id: number;
  readonly eventType: string;
  readonly version: string;
  readonly state: "waiting" | "exhausted";
  /** Every attempt that failed: inline, retries and replays. */
  readonly attempts: number;
  /** Asynchronous retries alone; `RETRY_MAX` bounds these. */
  readonly retriesDone: number;
  readonly code: FaultCode;
  readonly error: string;
  /** The raw body, encrypted. */
  readonly sealedBody: Uint8Array;
  /** What its record will say of the body. */
  readonly bodySha256: string;
  readonly firstFailedAt: string;
  readonly lastFailedAt: string;
  readonly nextAttemptAt: string | null;
  readonly leasedUntil: string | null;
  /** How many processes ended during its attempts since the last one that came to an end; above 0 it is suspect. */
  readonly uncleanEnds: number;
}

/** A lease of one failure; all but a removal count as an attempt when they are taken. */
export interface FailureLease extends Lease {
  /** Default: a replay. */
  readonly kind?: "replay" | "bulk" | "removal";
  /** Whether its process runs no other failure meanwhile. */
  readonly isAlone?: boolean;
  readonly bulkReplayId?: number | undefined;
}

/** How leases and schedules are looked after. */
export interface Recovery {
  readonly now: Date;
  /** How long a lease lives. */
  readonly leaseMs: number;
  readonly policy: RetryPolicy;
}

/** An attempt whose process ended before it did, as it was settled. */
export interface CutOff extends EventKey {
  readonly kind: "retry" | "replay" | "bulk";
  readonly isAlone: boolean;
  readonly state: StoredFailure["state"];
  readonly uncleanEnds: number;
}

export interface NewFailure extends EventKey {
  readonly eventType: string;
  readonly version: string;
  readonly code: FaultCode;
  readonly error: string;
  readonly sealedBody: Uint8Array;
  readonly bodySha256: string;
  /** Null when no retry is allowed: the failure is `exhausted` from the start. */
  readonly nextAttemptAt: Date | null;
}

/** Which failures are meant: those that have all of it. */
export interface FailureFilter {
  readonly state?: StoredFailure["state"];
  readonly source?: string;
  readonly eventType?: string;
  readonly code?: string;
}

export interface FailureStore {
  /** A second failure of the same event counts as an attempt and leaves the retry schedule as it is. */
  record(failure: NewFailure, now: Date): Promise<void>;
  /**
   * The due failures, oldest first, each leased to one owner only, without suspects. The attempt and the retry are counted here
   * already, so that one during which the process ends counts too.
   */
  leaseDue(lease: Lease, limit: number): Promise<StoredFailure[]>;
  /** The due suspect with the fewest process ends, for a process that runs no other failure meanwhile. */
  leaseSuspect(lease: Lease): Promise<StoredFailure | undefined>;
  /** Whether a suspect is due. */
  isSuspectDue(now: Date): Promise<boolean>;
  /** One failure, whatever its state; `leased` when it is leased already, also by a process that has ended. */
  leaseOne(key: EventKey, lease: FailureLease): Promise<StoredFailure | "absent" | "leased">;
  /**
   * Settles the attempts whose leases have expired: each counts, and its failure is suspect from then on. What a clock that was
   * set back has put off for longer than a lease or a retry may take gets the longest time it may.
   */
  recover(recovery: Recovery): Promise<CutOff[]>;
  /** After a leased attempt failed again: it is no suspect any more. `retry` may exhaust it, a replay does not. */
  reschedule(key: EventKey, owner: string, again: FailedAgain): Promise<void>;
  /**
   * Gives a lease back, and the attempt that it counted; `nextAttemptAt` puts a waiting failure off, so that others come first. `bulkReplayId`: that one is
   * done with it, and counts it as failed in the same transaction.
   */
  release(key: EventKey, owner: string, nextAttemptAt?: Date, bulkReplayId?: number): Promise<void>;
  /** True when there was one. */
  remove(key: EventKey): Promise<boolean>;
  get(key: EventKey): Promise<StoredFailure | undefined>;
  /**
   * A bounded look: what is not found within its time is found when it goes on. With an event's id its failures are found at
   * once.
   */
  search(
    filter: FailureFilter & { readonly eventId?: string },
    search: Search,
  ): Promise<Found<StoredFailure>>;
  /** A page, however long it takes to find. */
  list(page: Page, filter: FailureFilter): Promise<readonly StoredFailure[]>;
  counts(): Promise<Record<StoredFailure["state"], number>>;
  /** When the next retry is due, in ISO 8601; null where none waits. */
  nextAttemptAt(): Promise<string | null>;
  /** How many failures wait for a retry, by event type and version. */
  waitingTypes(): Promise<WaitingType[]>;
}

export interface WaitingType {
  readonly eventType: string;
  readonly version: string;
  readonly count: number;
}

export interface FailedAgain {
  readonly kind: "retry" | "replay";
  readonly code: FaultCode;
  readonly error: string;
  readonly now: Date;
  /** Null: no further retry, the failure is exhausted. Ignored for a replay. */
  readonly nextAttemptAt: Date | null;
  /** The bulk replay whose replay it was: it is done with this failure, and counts it in the same transaction. */
  readonly bulkReplayId?: number;
}
