import { z } from "zod";
import { object, time, view } from "./page-schemas.ts";
import { BULK_FILTER, OUTCOME_NAMES } from "./request-parameters.ts";

export const OUTCOME = z.string().describe(`${OUTCOME_NAMES}.`);

const STATEMENT = z.strictObject({
  sql: z.string().describe("Secrets in the text are masked."),
  values: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .describe("The first 32 in their order, secrets masked, each as a text of up to 256 characters or a number."),
  values_omitted: z.int(),
  rows: z.int().nullable().describe("How many it returned or changed; null where it failed."),
});

export const RECORDED_RUN = z.strictObject({
  ended_at: time(),
  by: z.enum(["inline", "accepted", "retry", "replay"]).describe("`inline`: its callback."),
  outcome: OUTCOME,
  statements: z.array(STATEMENT),
  statements_omitted: z.int(),
  connection_used: z.boolean().describe("Whether the handler took `tx.connection`: that is not among the statements."),
});

export const REPLAY = z.strictObject({
  outcome: OUTCOME,
  result: object().optional(),
  error: z.string().optional(),
  dry_run: z.boolean(),
  statements: z
    .array(STATEMENT)
    .optional()
    .describe("Of a dry run: what the handler ran through `tx`, in order, the first hundred."),
  statements_omitted: z.int().optional().describe("How many more there were."),
  connection_used: z
    .boolean()
    .optional()
    .describe("Whether the handler took `tx.connection`: what it ran through that is not among the statements."),
  deferred_keys_unchecked: z
    .boolean()
    .optional()
    .describe(
      "Whether the database (SQLite) may have foreign keys that only a commit checks: a dry run does not, and a replay may still end as `commit_failed`.",
    ),
  notifications: z
    .array(z.strictObject({ topic: z.string(), payload: object() }))
    .optional()
    .describe("Of a dry run: what would be sent, secrets masked, the first hundred."),
  notifications_omitted: z.int().optional(),
  earlier: z
    .strictObject({ result: object().nullable(), processed_at: time().nullable() })
    .optional()
    .describe("Of a handled event: the result of its record before this run."),
});

export const BULK_REPLAY_TRIAL = view("What a bulk replay of handled events would do.", {
  total: z.int(),
  first: z
    .strictObject({
      source: z.string(),
      event_id: z.string(),
      replay: REPLAY.nullable().describe("Its dry run; null where it would be skipped."),
      skipped: z.string().nullable().describe("Why it would be skipped."),
    })
    .nullable()
    .describe("The first of them; null where there is none."),
  sample: z
    .strictObject({
      run: z.int(),
      skipped: z.int().describe("Without anything to run them from, such as an original."),
      failed: z.array(z.strictObject({ source: z.string(), event_id: z.string(), reason: z.string() })),
    })
    .describe("The first 20 at most, each run and rolled back, and those that would fail."),
});

export const EVENT_REPLAY = z.strictObject({
  replayed_at: time(),
  actor: z.string(),
  reason: z.string(),
  earlier_result: object().describe("Which the replay replaced."),
  earlier_processed_at: time(),
});

export const BULK_REPLAY = view("The replay of all failures, or of all handled events, that a filter finds.", {
  id: z.int(),
  scope: z.enum(["failures", "events"]).describe("`events`: handled ones, which are run again."),
  filter: z.strictObject(BULK_FILTER).describe("What they have in common."),
  reason: z.string().nullable().describe("Why handled events are run again; null for failures."),
  per_second: z.int().describe("How many replays may begin in a second."),
  state: z.enum(["running", "paused", "cancelled", "done"]),
  total: z.int().describe("How many there were at the beginning; those that came later are not replayed."),
  done: z.int().describe("`succeeded`, `already_handled`, `failed` and `skipped` together."),
  succeeded: z.int(),
  already_handled: z.int().describe("Handled or discarded before their turn; of handled events, deleted."),
  failed: z
    .int()
    .describe(
      "Failures that are failures still, or handled events that keep their earlier result. None is tried twice.",
    ),
  skipped: z.int().describe("Handled events without anything to run them from, such as an original."),
  started_at: time(),
  ended_at: time().nullable(),
  created_by: z.string().describe("Who asked for it."),
});

export const UNREPLAYED_EVENT = view("A handled event that a bulk replay did not run.", {
  id: z.int(),
  source: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  at: time(),
  kind: z.enum(["failed", "skipped"]),
  code: z
    .string()
    .describe("Of docs/errors.md; of a skipped one `no_original`, `erased`, `ignored`, `no_handler` or `stale`."),
  error: z.string().describe("Its first line; the event's timeline has the stack of the run."),
});
