import { z } from "zod";
import { PROBLEM_KINDS, PROBLEM_STATES } from "../domain/index.ts";
import { ALERT } from "./alert-schemas.ts";
import { CLAIMED } from "./callback-schemas.ts";
import { hourly } from "./hourly-counts.ts";
import { time, view } from "./page-schemas.ts";

const count = () => z.int().optional();

export const PROBLEM = view(
  "What is wrong, by its cause: failures, refused callbacks or failed deliveries that share one.",
  {
    id: z.string().describe("Stable: the same cause has it again."),
    kind: z.enum(PROBLEM_KINDS),
    source: z.string().describe("Of a failed delivery, its channel."),
    event_type: z.string().nullable(),
    code: z.string().describe("A code of docs/errors.md; `delivery_failed` for deliveries."),
    title: z.string().describe("One sentence, secrets masked."),
    state: z.enum(PROBLEM_STATES).describe("`muted` is open, and sends no alert."),
    count: z
      .int()
      .describe("How many events or deliveries have it now; refused callbacks since the last authentic one."),
    at_least: z.boolean().describe("Whether there are more than `count`: a request counts for a bounded time."),
    states: z
      .strictObject({ waiting: count(), exhausted: count(), rejected: count(), accepted: count() })
      .describe("Of failures, by their states."),
    first_seen: time(),
    last_seen: time(),
    since: time().describe("Of refused callbacks, when the last authentic one came; otherwise as `first_seen`."),
    example: z
      .strictObject({ source: z.string(), event_id: z.string(), notification_id: z.int().nullable() })
      .nullable()
      .describe("Its newest event, for a dry run; null for refused callbacks and where it is resolved."),
    remedy: z.string().nullable(),
    hourly: hourly(),
    reopened: z.int().describe("How often it has come again after it was resolved."),
    resolved_at: time().nullable(),
    muted_until: time().nullable(),
    muted_by: z.string().nullable(),
    mute_reason: z.string().nullable(),
  },
);

const PROBLEM_EVENT = z.strictObject({
  at: time().describe("Of the last failure, or when the callback came."),
  source: z.string().nullable(),
  event_id: z.string().nullable(),
  event_type: z.string().nullable(),
  state: z.string().describe("Of the failure, or the delivery; the outcome of a callback."),
  error: z.string().nullable().describe("Its first line, secrets masked."),
  callback_id: z.int().nullable(),
  claimed: CLAIMED.nullable(),
  notification_id: z.int().nullable(),
  topic: z.string().nullable().describe("Of the notification."),
  alert: ALERT.pick({ kind: true, source: true, subject: true })
    .nullable()
    .describe("Of a notification that an alert sent, which belongs to no event."),
});

export const PROBLEM_DETAIL = view("A problem, and a page of its events, newest first.", {
  problem: PROBLEM,
  channel_host: z
    .string()
    .nullable()
    .describe(
      "Where the channel of failed deliveries sends to; null for other problems, and where it is not configured.",
    ),
  events: z.array(PROBLEM_EVENT),
  next_cursor: z.string().nullable().describe("Pass it as `cursor` for the next, older page; null on the last one."),
});

export type ProblemView = z.infer<typeof PROBLEM>;
export type ProblemEventView = z.infer<typeof PROBLEM_EVENT>;
export type ProblemDetailView = z.infer<typeof PROBLEM_DETAIL>;

/** A list is not paged: a receiver has few problems, or one look is not enough for it. */
export interface ProblemListView {
  readonly items: readonly ProblemView[];
  /** False where there were more causes, or rows, than one request counts. */
  readonly is_complete: boolean;
}
