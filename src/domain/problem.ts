import type { FailureState } from "./retry-schedule.ts";

export const PROBLEM_KINDS = ["failure", "refusal", "delivery"] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** `muted` only while it is open: a resolved problem needs no mute. */
export const PROBLEM_STATES = ["open", "muted", "resolved"] as const;

/** Failures, refused callbacks or failed deliveries that share a cause. */
export interface Problem {
  readonly id: string;
  readonly kind: ProblemKind;
  /** Of a failed delivery, its channel. */
  readonly source: string;
  readonly eventType: string | null;
  readonly code: string;
  /** One sentence. */
  readonly title: string;
  /** 0 once it is resolved. */
  readonly count: number;
  /** Whether there are more than the count: a look counts for a bounded time. */
  readonly isAtLeast: boolean;
  /** Of failures, by their states. */
  readonly states: Readonly<Partial<Record<FailureState, number>>>;
  /** Times are in ISO 8601. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** Of refused callbacks, when the last authentic one came; otherwise as `firstSeen`. */
  readonly since: string;
  readonly example: ProblemExample | null;
  readonly remedy: string | null;
  /** By the hour, the 24 hours up to now; the last one is not over. Of the newest 10,000; empty where it is resolved. */
  readonly hourly: readonly number[];
}

/** Its newest event; of failed deliveries, a notification. */
export interface ProblemExample {
  readonly source: string;
  readonly eventId: string;
  readonly notificationId: number | null;
}

export interface ProblemState {
  readonly state: (typeof PROBLEM_STATES)[number];
  /** How often it has come again after it was resolved. */
  readonly reopened: number;
  readonly resolvedAt: string | null;
  readonly mutedUntil: string | null;
  readonly mutedBy: string | null;
  readonly muteReason: string | null;
}
