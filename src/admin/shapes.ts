import { z } from "zod";

/** ISO 8601. */
const time = () => z.string().meta({ format: "date-time" });
/** The version whose rules the event was handled by. */
const version = () => z.string().meta({ enum: ["v1", "v2"] });
/** Of any depth. */
const object = () => z.record(z.string(), z.unknown());

/** Why a callback was not authentic, and what to do about it. */
const DIAGNOSIS = z
  .strictObject({
    code: z.string().describe("A code of docs/refused.md."),
    says: z.string().describe("What was found."),
    do: z.string().describe("What to do about it."),
  })
  .describe("Why it was not authentic; null for others, and where it was not looked into.");

/** A row of the callback log (SPEC 1.8). */
export const CALLBACK = z
  .strictObject({
    id: z.int(),
    request_id: z.string(),
    timestamp: time(),
    source: z.string().nullable(),
    event_id: z.string().nullable(),
    event_type: z.string().nullable(),
    method: z.string(),
    url: z.string(),
    remote_address: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    outcome: z.string(),
    response_status: z.int(),
    response_body: z.string(),
    processing_ms: z.number(),
    error: z.string().nullable(),
    diagnosis: DIAGNOSIS.nullable(),
  })
  .describe(
    "A row of the callback log, secrets masked. `outcome` is `success`, `already_processed` or a code of docs/errors.md.",
  );

/** A record as SPEC 2.4 names its fields. */
export const EVENT = z
  .strictObject({
    id: z.int(),
    source: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    version: version(),
    status: z.enum(["processing", "completed"]),
    result: object().nullable(),
    created_at: time(),
    processed_at: time().nullable(),
  })
  .describe("The record of an event that was handled.");

/** A failure without its encrypted body. */
export const FAILURE = z
  .strictObject({
    id: z.int(),
    source: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    version: version(),
    state: z.enum(["waiting", "exhausted"]),
    attempts: z.int(),
    retries_done: z.int(),
    code: z.string(),
    error: z.string(),
    first_failed_at: time(),
    last_failed_at: time(),
    next_attempt_at: time().nullable(),
  })
  .describe("A failed event, waiting for its retry, or for a person.");

/** How a replay ended; the handler's own failure is none of the request's. */
export const REPLAY = z.strictObject({
  outcome: z.string().describe("`success`, `already_processed` or a code of docs/errors.md."),
  result: object().optional(),
  error: z.string().optional(),
  dry_run: z.boolean(),
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

export const ERROR = z.strictObject({ error: z.string() });

/** By the names under which the description of the API has them. */
export const SHAPES = {
  Callback: CALLBACK,
  Event: EVENT,
  Failure: FAILURE,
  Replay: REPLAY,
  Notification: NOTIFICATION,
  Error: ERROR,
} as const;

export type CallbackView = z.infer<typeof CALLBACK>;
export type EventView = z.infer<typeof EVENT>;
export type FailureView = z.infer<typeof FAILURE>;
export type ReplayView = z.infer<typeof REPLAY>;
export type NotificationView = z.infer<typeof NOTIFICATION>;

/** A page of a list, newest first. */
export interface PageOf<Item> {
  readonly items: readonly Item[];
  /** Pass it as `cursor` for the next, older page; null on the last one. */
  readonly next_cursor: string | null;
}
