import { createHash, createHmac, createSecretKey, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { SECRET } from "../load/event-file.ts";

/** What the hand-written servers have in common: verification, validation, and the values of the four rows. */
const key = createSecretKey(Buffer.from(SECRET));

export const PATH = "/api/platform/callback";

export function isSigned(body: Uint8Array, claimed: string | string[] | undefined): boolean {
  if (typeof claimed !== "string" || claimed.length !== 64) return false;
  return timingSafeEqual(createHmac("sha256", key).update(body).digest(), Buffer.from(claimed, "hex"));
}

interface Payment {
  readonly event_id: string;
  readonly event_type: string;
  readonly timestamp: number;
  readonly data: { readonly order_id: string; readonly amount: number };
}

/** The event, or undefined where it is not one. */
export function paymentOf(body: Buffer): Payment | undefined {
  try {
    const event = JSON.parse(body.toString("utf8")) as Payment;
    const { event_id, event_type, timestamp, data } = event;
    const isWhole = typeof event_id === "string" && typeof event_type === "string" && Number.isInteger(timestamp);
    return isWhole && typeof data?.order_id === "string" && Number.isFinite(data.amount) ? event : undefined;
  } catch {
    return undefined;
  }
}

const SOURCE = "platform";

export function recordValues({ event_id, event_type, data }: Payment, body: Buffer): unknown[] {
  const now = new Date().toISOString();
  const sha256 = createHash("sha256").update(body).digest("hex");
  const result = JSON.stringify({ order_id: data.order_id });
  return [SOURCE, event_id, event_type, "v1", "completed", sha256, result, now, now];
}

export function orderValues({ event_id, data }: Payment): unknown[] {
  return [data.order_id, "paid", data.amount, event_id, new Date().toISOString()];
}

export function notificationValues({ event_id, data }: Payment): unknown[] {
  const payload = JSON.stringify({ order_id: data.order_id, amount: data.amount, event_id });
  return [SOURCE, event_id, 1, "order.paid", payload, new Date().toISOString()];
}

export interface Logged {
  readonly headers: IncomingHttpHeaders;
  readonly outcome: "success" | "already_processed";
  readonly answer: string;
  readonly startedAt: number;
}

export function callbackValues(payment: Payment, { headers, outcome, answer, startedAt }: Logged): unknown[] {
  return [
    randomUUID(),
    new Date().toISOString(),
    SOURCE,
    payment.event_id,
    payment.event_type,
    "POST",
    PATH,
    "127.0.0.1",
    JSON.stringify({ ...headers, "x-signature": "***" }),
    JSON.stringify(masked(payment)),
    outcome,
    200,
    answer,
    performance.now() - startedAt,
    outcome === "success" ? 1 : 0,
  ];
}

const SECRET_NAMES = /password|secret|token|card|cvc|iban|authorization/i;

/** As much masking as a careful hand would write: by the names of keys. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, SECRET_NAMES.test(name) ? "***" : masked(inner)]),
  );
}

/** What the answer says of an event that is new, and of one that is not. */
export function answerFor(payment: Payment, isNew: boolean): { outcome: Logged["outcome"]; answer: string } {
  return isNew
    ? {
        outcome: "success",
        answer: JSON.stringify({ status: "success", data: { order_id: payment.data.order_id } }),
      }
    : { outcome: "already_processed", answer: '{"status":"already_processed"}' };
}
