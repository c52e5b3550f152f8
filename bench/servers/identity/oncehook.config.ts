import { z } from "zod";
import { paymentNotify } from "../../../src/handlers/index.ts";
import { defineConfig, defineHandler } from "../../../src/index.ts";
import { hmac } from "../../../src/sources/platforms/index.ts";
import { SECRET } from "../../load/event-file.ts";

/** Two sources that differ in one thing: where the event's id stands. */
const source = (id: "body.event_id" | "header.Idempotency-Key") =>
  hmac({
    secret: SECRET,
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{body}",
    id,
    type: "body.event_type",
    eventTime: { at: "body.timestamp", unit: "seconds" },
    data: "body.data",
  });

const payment = (name: string, migrations: typeof paymentNotify.migrations) =>
  defineHandler({
    source: name,
    type: "payment_notify",
    data: z.object({ order_id: z.string(), amount: z.number() }),
    migrations,
    handle: paymentNotify.handle,
  });

export default defineConfig({
  sources: { signed: source("body.event_id"), unsigned: source("header.Idempotency-Key") },
  handlers: [payment("signed", paymentNotify.migrations), payment("unsigned", [])],
});
