import { z } from "zod";

/** ISO 8601. */
const time = () => z.string().meta({ format: "date-time" });
/** The version whose rules the event was handled by. */
const version = () => z.string().meta({ enum: ["v1", "v2"] });
/** Of any depth. */
const object = () => z.record(z.string(), z.unknown());

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

/** How callbacks ended, by outcome. */
const OUTCOMES = z.record(z.string(), z.int());
const quantile = () => z.number().nullable();

export const OVERVIEW = z
  .strictObject({
    span: z.enum(["hour", "day", "month"]),
    from: time(),
    to: time(),
    step_seconds: z.int(),
    buckets: z
      .array(z.strictObject({ at: time(), outcomes: OUTCOMES, p50_ms: quantile(), p99_ms: quantile() }))
      .describe("Every period of the span, oldest first; the last one is not over."),
    totals: z.strictObject({ outcomes: OUTCOMES, p50_ms: quantile(), p99_ms: quantile() }),
    failures: z.strictObject({ waiting: z.int(), exhausted: z.int(), next_attempt_at: time().nullable() }),
    notifications: z.strictObject({ waiting: z.int(), dead: z.int() }),
    alerts: z
      .array(z.strictObject({ kind: z.string(), source: z.string(), subject: z.string(), since: time() }))
      .describe("Those that are open."),
    needs_a_person: z.array(z.strictObject({ what: z.string(), count: z.int(), says: z.string() })),
  })
  .describe("What came to the receivers of this database: their counts may be some seconds behind.");

/** What a live stream tells every two seconds. */
export const TALLY = z
  .strictObject({
    callbacks: z.int().describe("How many rows the log got since the tally before."),
    outcomes: OUTCOMES.describe("How they ended."),
    waiting: z.int().describe("Failures that wait for a retry."),
    exhausted: z.int().describe("Failures that wait for a person."),
  })
  .describe("`event: tally` of a live stream; of all callbacks, whatever its filter.");

/** What a live stream could not show. */
export const GAP = z
  .strictObject({ after: z.int().nullable(), until: z.int() })
  .describe(
    "`event: gap` of a live stream: callbacks with ids above `after`, up to and including `until`, were left out. Where `after` is null, nobody knows which.",
  );

/** By the names under which the description of the API has them. */
export const SHAPES = {
  Callback: CALLBACK,
  Event: EVENT,
  Failure: FAILURE,
  Replay: REPLAY,
  Notification: NOTIFICATION,
  Overview: OVERVIEW,
  Tally: TALLY,
  Gap: GAP,
  Error: ERROR,
} as const;

export type CallbackView = z.infer<typeof CALLBACK>;
export type EventView = z.infer<typeof EVENT>;
export type FailureView = z.infer<typeof FAILURE>;
export type ReplayView = z.infer<typeof REPLAY>;
export type NotificationView = z.infer<typeof NOTIFICATION>;
export type OverviewView = z.infer<typeof OVERVIEW>;
export type TallyView = z.infer<typeof TALLY>;
export type GapView = z.infer<typeof GAP>;

/** A page of a list, newest first. */
export interface PageOf<Item> {
  readonly items: readonly Item[];
  /** Pass it as `cursor` for the next, older page; null on the last one. */
  readonly next_cursor: string | null;
}

/** A page of the callback log; a bounded look, which goes on with its cursor. */
export interface FoundPage extends PageOf<CallbackView> {
  /** How far back the search has come, in ISO 8601; null at the end. */
  readonly searched_until: string | null;
}
