/** What the admin API answers where its client has no types for it yet. Each goes when the client brings its own. */
import type {
  EventView,
  FailureView,
  NotificationView,
  CallbackView as TodaysCallback,
  ReplayView as TodaysReplay,
} from "oncehook/admin-client";

export type { EventView, FailureView, NotificationView };

export interface SignInView {
  readonly methods: readonly ("token" | "oidc")[];
  readonly oidc_label: string | null;
  readonly environment: string | null;
}

export interface SessionView {
  readonly who: string;
  readonly role: "viewer" | "operator";
  readonly expires_at: string | null;
  readonly environment: string | null;
  readonly version: string | null;
  readonly sandbox: boolean;
}

export interface AuditEntryView {
  readonly id: number;
  readonly timestamp: string;
  /** Null for somebody who was not let in. */
  readonly who: string | null;
  readonly role: string | null;
  readonly remote_address: string;
  readonly action: string;
  readonly subject: string | null;
  readonly detail: object | null;
  readonly outcome: "done" | "refused" | "failed" | null;
}

/** Why a signature did not verify. */
export interface Diagnosis {
  readonly code: string;
  readonly says: string;
  readonly do: string;
}

export interface CallbackView extends TodaysCallback {
  readonly diagnosis?: Diagnosis | null;
}

export interface CallbackFilters {
  readonly from?: string;
  readonly to?: string;
  readonly source?: string;
  readonly event_type?: string;
  readonly status?: string;
  readonly outcome?: string;
  readonly remote_address?: string;
  readonly event_id?: string;
  readonly text?: string;
}

export interface FailureFilter {
  readonly state?: "waiting" | "exhausted";
  readonly source?: string;
  readonly event_type?: string;
  readonly code?: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
  /** How far back a bounded search has come; null at the list's end. */
  readonly searched_until?: string | null;
}

export interface ReplayView extends TodaysReplay {
  readonly statements?: readonly Statement[];
  readonly statements_omitted?: number;
  /** Whether the handler ran statements that are not among these. */
  readonly connection_used?: boolean;
  readonly notifications?: readonly { readonly topic: string; readonly payload: object }[];
  readonly notifications_omitted?: number;
}

export interface Statement {
  readonly sql: string;
  /** Null where it failed. */
  readonly rows: number | null;
}

export interface TallyView {
  readonly callbacks: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly waiting: number;
  readonly exhausted: number;
}

export type Span = "hour" | "day" | "month";

export interface Bucket {
  readonly at: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

export interface Alert {
  readonly kind: string;
  readonly source: string | null;
  readonly subject: string | null;
  readonly since: string;
}

export interface OverviewView {
  readonly span: Span;
  readonly from: string;
  readonly to: string;
  readonly step_seconds: number;
  readonly buckets: readonly Bucket[];
  readonly totals: Omit<Bucket, "at">;
  readonly failures: {
    readonly waiting: number;
    readonly exhausted: number;
    readonly next_attempt_at: string | null;
  };
  readonly notifications: { readonly waiting: number; readonly dead: number };
  readonly alerts: readonly Alert[];
  readonly needs_a_person: readonly {
    readonly what: string;
    readonly count: number;
    readonly says: string;
  }[];
}

interface Ran {
  readonly at: string;
  readonly outcome: string;
  /** With its stack. */
  readonly error: string | null;
  readonly took_ms: number;
}

/** One thing that happened to an event. */
export type Moment =
  | (Ran & { readonly kind: "delivery"; readonly callback_id: number; readonly response_status: number })
  | (Ran & {
      readonly kind: "attempt";
      readonly by: "callback" | "retry" | "replay" | "bulk";
      readonly callback_id: number | null;
      readonly response_status: number | null;
    })
  | {
      readonly at: string;
      readonly kind: "failure";
      readonly state: "waiting" | "exhausted";
      readonly code: string;
    }
  | { readonly at: string; readonly kind: "record"; readonly status: "completed" }
  | {
      readonly at: string;
      readonly kind: "notification";
      readonly notification_id: number;
      readonly topic: string;
      readonly state: "enqueued" | "delivered";
      readonly channel: string | null;
    };

export interface EventHistoryView {
  readonly source: string;
  readonly event_id: string;
  readonly event: EventView | null;
  readonly failure: FailureView | null;
  readonly timeline: readonly Moment[];
  readonly timeline_cursor: string | null;
  readonly notifications: readonly NotificationView[];
}

export interface BulkReplayView {
  readonly id: number;
  readonly filter: FailureFilter;
  readonly per_second: number;
  readonly state: "running" | "paused" | "cancelled" | "done";
  readonly total: number;
  readonly done: number;
  readonly succeeded: number;
  readonly already: number;
  readonly failed: number;
  readonly begun_at: string;
  readonly ended_at: string | null;
  readonly by: string;
}
