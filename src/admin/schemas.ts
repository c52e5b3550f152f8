import { z } from "zod";
import { FAILURE_STATES, type MatchKind } from "../domain/index.ts";
import { BACKFILL, BACKFILL_PREVIEW } from "./backfill-schemas.ts";
import {
  CALLBACK,
  CALLBACK_ROW,
  type CallbackRowView,
  FOUND_CALLBACK,
  type FoundCallbackView,
  SUGGESTION,
} from "./callback-schemas.ts";
import { ERASURE } from "./erasure-schema.ts";
import { GAP } from "./gap-schema.ts";
import * as page from "./page-schemas.ts";
import { object, time, view } from "./page-schemas.ts";
import * as problem from "./problem-schemas.ts";
import * as replay from "./replay-schemas.ts";
import { flag } from "./request-parameters.ts";
import * as settings from "./settings/settings-schemas.ts";

/** The version whose rules the event was handled by. */
const version = () => z.string().meta({ enum: ["v1", "v2"] });

export const EVENT = view("The record of an event that was handled.", {
  id: z.int(),
  source: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  version: version(),
  status: z.enum(["processing", "completed"]),
  result: object().nullable(),
  created_at: time(),
  processed_at: time().nullable(),
});

export const FAILURE = view("A failed event: waiting for its retry, with retries exhausted, or rejected.", {
  id: z.int(),
  source: z.string(),
  event_id: z.string(),
  event_type: z.string().describe("Empty for a callback that its contract could not read."),
  version: version(),
  state: z.enum(FAILURE_STATES),
  attempts: z.int(),
  retries_done: z.int(),
  code: z.string(),
  error: z.string().describe("In a list its first line; in the event's history with its stack. Secrets are masked."),
  first_failed_at: time(),
  last_failed_at: time(),
  next_attempt_at: time().nullable(),
  gives_up_at: time().nullable().describe("When the last retry comes, if all of them fail; null where none is left."),
});

export const DELIVERY = z.strictObject({
  channel: z.string().describe("`webhook`, `log`, or `email:` and the recipient."),
  state: z.enum(["waiting", "delivered", "dead"]),
  attempts: z.int().describe("With the one under way."),
  error: z.string().nullable(),
  next_attempt_at: time().nullable(),
  delivered_at: time().nullable(),
});

export const NOTIFICATION = z.strictObject({
  id: z.int(),
  idempotency_key: z.string(),
  source: z.string(),
  event_id: z.string(),
  topic: z.string(),
  payload: object(),
  created_at: time(),
  deliveries: z
    .array(DELIVERY)
    .describe("One for each channel, and one for each recipient of mails; none in the first second."),
});

export const NOTIFICATION_ROW = NOTIFICATION.omit({ payload: true }).describe(
  "A notification in a list: without its payload, which its event's history has, and with the first line of each error.",
);

const runFields = {
  outcome: replay.OUTCOME,
  error: z.string().nullable().describe("With its stack, secrets masked."),
  duration_ms: z.number(),
};

const TIMELINE_ENTRY = z.discriminatedUnion("kind", [
  z.strictObject({
    at: time(),
    kind: z.literal("delivery"),
    callback_id: z.int().describe("Of the callback log."),
    response_status: z.int(),
    ...runFields,
  }),
  z.strictObject({
    at: time(),
    kind: z.literal("attempt"),
    by: z
      .enum(["callback", "accepted", "retry", "replay", "bulk"])
      .describe("`accepted`: the first attempt, after the response; `bulk`: a replay of many."),
    callback_id: z.int().nullable().describe("Of the callback log, where it was made by a callback."),
    response_status: z.int().nullable().describe("Likewise."),
    ...runFields,
  }),
  z.strictObject({
    at: time(),
    kind: z.literal("failure"),
    state: z.enum(FAILURE_STATES).describe("It was kept then; this is its state now."),
    code: z.string(),
  }),
  z.strictObject({ at: time(), kind: z.literal("record"), status: z.literal("completed") }),
  z.strictObject({
    at: time(),
    kind: z.literal("notification"),
    notification_id: z.int(),
    topic: z.string(),
    state: z.enum(["enqueued", "delivered"]),
    channel: z.string().nullable().describe("The one that it was delivered through."),
  }),
]);
export type TimelineEntry = z.infer<typeof TIMELINE_ENTRY>;

export const EVENT_HISTORY = view("One event: what it came to, and everything that happened to it.", {
  source: z.string(),
  event_id: z.string(),
  event: EVENT.nullable().describe("Its record; null where it was not handled."),
  failure: FAILURE.nullable().describe("Null where the event has no failure."),
  timeline: z.array(TIMELINE_ENTRY).describe("Oldest first."),
  timeline_cursor: z
    .string()
    .nullable()
    .describe("Pass it as `cursor` for what came later; null where there is no more."),
  notifications: z.array(NOTIFICATION).describe("Oldest first, at most 200."),
  runs: z
    .array(replay.RECORDED_RUN)
    .describe("What its handler ran, the latest first, where `RECORD_STATEMENTS` is on; the last ten."),
  replays: z
    .array(replay.EVENT_REPLAY)
    .describe("Of a handled event: its runs for operators that replaced a result, oldest first, at most 200."),
});

export const AUDIT_ENTRY = view("A row of the audit log.", {
  id: z.int(),
  timestamp: time(),
  actor: z
    .string()
    .nullable()
    .describe("`token`, a mail address, or `sub:` and the subject at the provider; null if unauthenticated."),
  role: z.enum(["viewer", "operator"]).nullable(),
  remote_address: z.string(),
  action: z.string().describe("Such as `failure.replay`, `session.begin`, `session.refused`."),
  target: z.string().nullable().describe("What it was done to, such as `platform/evt_1`."),
  detail: object().nullable(),
  outcome: z
    .enum(["done", "refused", "failed"])
    .nullable()
    .describe("Null while it is under way, and for ever where the process ended before it could tell."),
});

export const RELEARN_REQUEST = z.strictObject({
  forget: flag.describe("Delete the secrets that were learnt, because one has leaked."),
  from: z
    .string()
    .regex(/^[0-9A-Fa-f.:]{2,45}(?:\/[0-9]{1,3})?$/)
    .describe("The only address or network that the secret may come from; any where it is left out.")
    .optional(),
  choose: flag.describe("Answer each secret that is sent, and take none: `fingerprint` chooses one afterwards."),
  fingerprint: z
    .string()
    .regex(/^[\w-]{12,64}$/)
    .describe("Take this one of `offered_secrets` now, and close the source.")
    .optional(),
});
type Relearn = z.output<typeof RELEARN_REQUEST>;
export type RelearnRequest = { readonly [Name in keyof Relearn]?: Relearn[Name] | undefined };

const RELEARN = view("A source that takes another secret from its platform, or has taken one.", {
  until: time().nullable().describe("It takes one secret until then; null where one was chosen."),
  offered_secrets: page.OFFERED_SECRETS,
});
export type RelearnView = z.infer<typeof RELEARN>;

export const SCHEMAS = {
  Callback: CALLBACK,
  CallbackRow: CALLBACK_ROW,
  FoundCallback: FOUND_CALLBACK,
  Suggestion: SUGGESTION,
  Event: EVENT,
  Failure: FAILURE,
  Replay: replay.REPLAY,
  Notification: NOTIFICATION,
  NotificationRow: NOTIFICATION_ROW,
  Sources: page.SOURCES,
  EndpointCheck: page.ENDPOINT_CHECK,
  Relearn: RELEARN,
  Tenant: page.TENANT,
  Sandbox: page.SANDBOX,
  SandboxSample: page.SANDBOX_SAMPLE,
  SandboxResult: page.SANDBOX_RESULT,
  SandboxFlow: page.SANDBOX_FLOW,
  AuditEntry: AUDIT_ENTRY,
  Session: page.SESSION,
  SignIn: page.SIGN_IN,
  EventHistory: EVENT_HISTORY,
  Backfill: BACKFILL,
  BackfillPreview: BACKFILL_PREVIEW,
  BulkReplay: replay.BULK_REPLAY,
  BulkReplayTrial: replay.BULK_REPLAY_TRIAL,
  UnreplayedEvent: replay.UNREPLAYED_EVENT,
  Problem: problem.PROBLEM,
  ProblemDetail: problem.PROBLEM_DETAIL,
  Erasure: ERASURE,
  Configuration: settings.CONFIGURATION,
  Checks: settings.CHECKS,
  Storage: settings.STORAGE,
  Background: settings.BACKGROUND,
  Overview: page.OVERVIEW,
  Tally: page.TALLY,
  Gap: GAP,
  Error: z.strictObject({ error: z.string() }),
} as const;

export type AuditEntryView = z.infer<typeof AUDIT_ENTRY>;
export type EventView = z.infer<typeof EVENT>;
export type FailureView = z.infer<typeof FAILURE>;
export type ReplayView = z.infer<typeof replay.REPLAY>;
export type NotificationView = z.infer<typeof NOTIFICATION>;
export type NotificationRowView = z.infer<typeof NOTIFICATION_ROW>;
export type EventHistoryView = z.infer<typeof EVENT_HISTORY>;
export type BulkReplayView = z.infer<typeof replay.BULK_REPLAY>;
export type BulkReplayTrialView = z.infer<typeof replay.BULK_REPLAY_TRIAL>;
export type UnreplayedEventView = z.infer<typeof replay.UNREPLAYED_EVENT>;

export interface PageOf<Item> {
  readonly items: readonly Item[];
  /** Pass it as `cursor` for the next, older page; null on the last one. */
  readonly next_cursor: string | null;
}

/** A page of the callback log; a bounded look, which goes on with its cursor. */
export interface CallbackPage extends PageOf<CallbackRowView> {
  /** How far back the search has come, in ISO 8601; null at the end. */
  readonly searched_until: string | null;
}

/** A page of a search: exact matches first, then beginnings, then texts; newest first within each. */
export interface SearchPageView extends PageOf<FoundCallbackView> {
  /** The kind of match that the next page looks for; null at the end. */
  readonly searching: MatchKind | null;
  /** How much of the log has been searched for it, from 0 to 1. */
  readonly progress: number;
  /** How far back the log was read for texts, in ISO 8601; null before that, and at the end. */
  readonly searched_until: string | null;
}
