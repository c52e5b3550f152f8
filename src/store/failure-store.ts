import type { EventKey, FaultCode } from "../domain/index.ts";
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
  /** The due failures, oldest first, each leased to one owner only. */
  leaseDue(lease: Lease, limit: number): Promise<StoredFailure[]>;
  /** One failure, whatever its state; `leased` when somebody else is at work on it. */
  leaseOne(key: EventKey, lease: Lease): Promise<StoredFailure | "absent" | "leased">;
  /** After a leased attempt failed again; `retry` counts against `RETRY_MAX`, a replay does not. */
  reschedule(key: EventKey, owner: string, again: FailedAgain): Promise<void>;
  /**
   * Gives a lease back; `nextAttemptAt` puts a waiting failure off, so that others come first. `bulkReplayId`: that one is
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
