import { z } from "zod";
import { time } from "./shape-parts.ts";

const OUTCOME = "`success`, `already_processed` or a code of docs/errors.md.";
const ended = {
  outcome: z.string().describe(OUTCOME),
  error: z.string().nullable().describe("With its stack, secrets masked."),
  took_ms: z.number(),
};

/** A callback that ran no handler. */
const DELIVERY = z.strictObject({
  at: time(),
  kind: z.literal("delivery"),
  callback_id: z.int().describe("Of the callback log."),
  response_status: z.int(),
  ...ended,
});

const ATTEMPT = z.strictObject({
  at: time(),
  kind: z.literal("attempt"),
  by: z.enum(["callback", "retry", "replay", "bulk"]).describe("`bulk`: a replay of many."),
  callback_id: z.int().nullable().describe("Of the callback log, where it was made by a callback."),
  response_status: z.int().nullable().describe("Likewise."),
  ...ended,
});

const KEPT = z.strictObject({
  at: time(),
  kind: z.literal("failure"),
  state: z.enum(["waiting", "exhausted"]).describe("It was kept then; this is its state now."),
  code: z.string(),
});

const RECORDED = z.strictObject({ at: time(), kind: z.literal("record"), status: z.literal("completed") });

const NOTIFIED = z.strictObject({
  at: time(),
  kind: z.literal("notification"),
  notification_id: z.int(),
  topic: z.string(),
  state: z.enum(["enqueued", "delivered"]),
  channel: z.string().nullable().describe("The one that it was delivered through."),
});

/** One thing that happened to an event. */
export const TIMELINE_ENTRY = z.discriminatedUnion("kind", [DELIVERY, ATTEMPT, KEPT, RECORDED, NOTIFIED]);

export type TimelineEntry = z.infer<typeof TIMELINE_ENTRY>;
