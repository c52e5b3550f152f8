import { z } from "zod";
import { MATCH_KINDS } from "../domain/index.ts";
import { time, view } from "./page-schemas.ts";
import { OUTCOME_NAMES } from "./request-parameters.ts";

const DIAGNOSIS = view("Why it was not authentic; null for others, and where it was not looked into.", {
  code: z.string().describe("A code of docs/errors.md."),
  message: z.string().describe("What was found."),
  remedy: z.string().describe("What to do about it."),
  confirmed: z
    .boolean()
    .describe("Whether a secret or key that is known here made what came, so that no other sender made it."),
});

const LEFT_OUT = view("Of a row that stands for callbacks without rows of their own; null for all others.", {
  reason: z
    .enum(["rejected_bound", "unknown_address", "buffer_full", "row_refused", "body_bound", "output_bound"])
    .describe("Which bound left them out: docs/hardening.md."),
  count: z.int(),
  addresses: z.int().describe("From how many remote addresses, counted up to 1,000."),
  first: time(),
  last: time(),
});

export const CLAIMED = view(
  "Of a callback without an event of its own: what its masked body and headers say. It is unverified where the callback was refused. The response of several handlers, and of a batch, has it too. Null for all others, and where nothing of it is recognized.",
  { event_id: z.string().nullable(), event_type: z.string().nullable() },
);

export const CALLBACK = view(`A row of the callback log, secrets masked. \`outcome\` is ${OUTCOME_NAMES}.`, {
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
  left_out: LEFT_OUT.nullable(),
  claimed: CLAIMED.nullable(),
});

/** They hold most of the bytes, and a list shows none of them. */
const LONG_FIELDS = { headers: true, body: true, response_body: true } as const;

export const CALLBACK_ROW = CALLBACK.omit(LONG_FIELDS).describe(
  "A callback in a list: without its headers and bodies, and with the first line of its error. The request for one callback has all of it.",
);

const MATCHED = view("Why a callback was found; null where the query has filters only.", {
  kind: z
    .enum(MATCH_KINDS)
    .describe("`exact`: the whole value; `prefix`: how it begins; `text`: a part of it, or of the masked body."),
  where: z
    .string()
    .describe(
      "A path in the body, `header x-github-delivery`, `query order`, `url`, `body`, or a field such as `event_id`.",
    ),
  value: z.string().describe("As it is written there; of a long text the part around it."),
});

export const FOUND_CALLBACK = CALLBACK_ROW.extend({ matched: MATCHED.nullable() }).describe(
  "A callback that a search has found.",
);

export const SUGGESTION = view("A way to go on with a query.", {
  text: z.string().describe("In the place of the last word of the query."),
  kind: z.enum(["filter", "source", "type", "outcome", "status", "time"]),
  meaning: z.string(),
});

export type CallbackView = z.infer<typeof CALLBACK>;
export type CallbackRowView = z.infer<typeof CALLBACK_ROW>;
export type FoundCallbackView = z.infer<typeof FOUND_CALLBACK>;
export type SuggestionView = z.infer<typeof SUGGESTION>;
