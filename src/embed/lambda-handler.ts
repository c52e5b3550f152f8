import { setTimeout as sleep } from "node:timers/promises";
import { type LambdaEvent, LambdaExchange, type LambdaResponse } from "./lambda-exchange.ts";
import { respondNotFound } from "./plain-responses.ts";
import type { Receiver } from "./receiver.ts";
import { type ReceiverOrMaker, receiverGetter } from "./receiver-maker.ts";

export type LambdaHandler = (event: LambdaEvent) => Promise<LambdaResponse>;

/** A platform waits no longer for the callback log. */
const FLUSH_MS = 1_000;

/**
 * A handler of AWS Lambda, for function URLs and HTTP APIs with payload format 2.0. The receiver needs
 * `background: "none"`: nothing runs after the response. Call `receiver.work()` from a function with a schedule.
 */
export function toLambdaHandler(receiver: ReceiverOrMaker): LambdaHandler {
  const getReceiver = receiverGetter(receiver, "toLambdaHandler(receiver)");
  return async (event) => {
    checkEvent(event);
    const opened = await getReceiver();
    if (opened.background !== "none") throw new TypeError(LOOPS);
    const exchange = new LambdaExchange(event, opened.originOf);
    if (!opened.handle(exchange)) respondNotFound(exchange);
    const response = await exchange.response;
    await flushed(opened);
    return response;
  };
}

const LOOPS =
  'toLambdaHandler: the receiver has background "loops", expected "none": a function is frozen after its response, with ' +
  'whatever a loop has started. Give createReceiver { background: "none" }, and call receiver.work() by a schedule';

async function flushed(receiver: Receiver): Promise<void> {
  const timer = new AbortController();
  const limit = sleep(FLUSH_MS, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([receiver.flush(), limit]);
  timer.abort();
}

const EXPECTED = "expected an event of a function URL, or of an HTTP API with payload format 2.0";

/** @throws TypeError for an event of another kind */
function checkEvent(event: unknown): asserts event is LambdaEvent {
  const { version, requestContext, httpMethod, rawPath } = (event ?? {}) as Record<string, unknown>;
  const context = (requestContext ?? {}) as Record<string, unknown>;
  if (version === "2.0" && typeof rawPath === "string" && context.http !== undefined) return;
  if (context.elb !== undefined)
    throw new TypeError(
      `toLambdaHandler: got an event of an Application Load Balancer, ${EXPECTED}. A load balancer hands over no query ` +
        "as it was sent, and some platforms sign it: give the function a URL, or put an HTTP API before it",
    );
  if (httpMethod !== undefined)
    throw new TypeError(
      `toLambdaHandler: got an event with payload format 1.0 (of a REST API, or an HTTP API that asks for it), ${EXPECTED}. ` +
        "Format 1.0 hands over the query decoded, and what platforms sign is gone: give the function a URL, or set " +
        "PayloadFormatVersion: '2.0' in an HTTP API",
    );
  throw new TypeError(
    `toLambdaHandler: got an event that is no HTTP request, ${EXPECTED}. For a schedule, export another function that ` +
      "calls receiver.work()",
  );
}
