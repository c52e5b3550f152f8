import { setTimeout as sleep } from "node:timers/promises";
import { sampleData, signedCallback } from "../../dev/sandbox/index.ts";
import type { DemoReceiver } from "./demo-receiver.ts";

export interface DemoLine {
  readonly what: string;
  readonly got: string;
  readonly isExpected: boolean;
}

interface DemoResponse {
  readonly status: number;
  readonly body: string;
}

const DUPLICATES = 50;
const RETRIED_WITHIN_MS = 8_000;
const POLL_EVERY_MS = 100;

export async function sendAll({ url, secret, isProcessed }: DemoReceiver): Promise<DemoLine[]> {
  const sender = createSender(url, secret);
  const payment = { event_id: "evt-2", data: sampleData("payment_notify") };
  return [
    line(
      "user_authorized",
      await sender("user_authorized", { event_id: "evt-1" }),
      /^200 .*"success".*user_id/,
    ),
    line("payment_notify", await sender("payment_notify", payment), /^200 .*"success".*order_id/),
    line(
      "webhook_message",
      await sender("webhook_message", { event_id: "evt-3" }),
      /^200 .*"success".*message_id/,
    ),
    line(
      "the same payment_notify again",
      await sender("payment_notify", payment),
      /^200 .*"already_processed"/,
    ),
    await burst(sender),
    line(
      "a forged signature",
      await sender("payment_notify", { event_id: "evt-5" }, "0".repeat(64)),
      /^401 .*"error"/,
    ),
    line("an unknown type", await sender("nobody_knows", { event_id: "evt-6", data: {} }), /^400 .*"error"/),
    ...(await retriedFailure(sender, isProcessed)),
  ];
}

type Send = (
  type: string,
  event: { event_id: string; data?: unknown },
  signature?: string,
) => Promise<DemoResponse>;

function createSender(url: string, secret: string): Send {
  return async (type, event, signature) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const whole = { event_type: type, timestamp, data: sampleData(type), ...event };
    const { headers, body } = signedCallback(secret, whole, type);
    const signed = signature === undefined ? headers : { ...headers, "x-signature": signature };
    const response = await fetch(url, { method: "POST", headers: signed, body });
    return { status: response.status, body: await response.text() };
  };
}

function line(what: string, { status, body }: DemoResponse, expected: RegExp): DemoLine {
  const got = `${status} ${body}`;
  return { what, got, isExpected: expected.test(got) };
}

async function burst(send: Send): Promise<DemoLine> {
  const event = { event_id: "evt-4", data: sampleData("payment_notify") };
  const answers = await Promise.all(Array.from({ length: DUPLICATES }, () => send("payment_notify", event)));
  const count = (status: string) =>
    answers.filter(({ body }) => body.includes(`"status":"${status}"`)).length;
  const [succeeded, duplicates] = [count("success"), count("already_processed")];
  return {
    what: `one payment_notify ${DUPLICATES} times at once`,
    got: `${succeeded} success, ${duplicates} already_processed`,
    isExpected: succeeded === 1 && duplicates === DUPLICATES - 1,
  };
}

/** The first attempt fails and is answered 500; then nothing is sent, and the retry loop heals it by itself. */
async function retriedFailure(send: Send, isProcessed: DemoReceiver["isProcessed"]): Promise<DemoLine[]> {
  const event = { event_id: "evt-7", data: { parcel_id: "parcel-1" } };
  const failed = line("a handler that fails", await send("parcel_shipped", event), /^500 .*"internal error"/);
  const startedAt = performance.now();
  while (!(await isProcessed(event.event_id)) && performance.now() - startedAt < RETRIED_WITHIN_MS) {
    await sleep(POLL_EVERY_MS);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const healed = await send("parcel_shipped", event);
  return [
    failed,
    line(`the same event, retried by us ${seconds} s later`, healed, /^200 .*"already_processed"/),
  ];
}
