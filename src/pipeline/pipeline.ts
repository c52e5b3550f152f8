import { failed, isRefused, type Outcome, type Refused, tenantName } from "../domain/index.ts";
import type { TraceSpan } from "../observability/tracing/index.ts";
import type { EventContent, ReadCallback, VerificationResult, Verified } from "../sources/index.ts";
import { acceptForLater } from "./accept-event.ts";
import { runItems } from "./batch.ts";
import { DeliveryRun } from "./delivery-run.ts";
import { orderKeyOf } from "./handler-slot.ts";
import { keepUnread, keySourceOf } from "./keep-rejected.ts";
import { originalOf, unhandledEvent } from "./original-of.ts";
import type { Callback, CallbackResult, Delivery, Receiver } from "./receiver.ts";
import { processForEach } from "./several-handlers.ts";

/**
 * The sequence of SPEC 1.7 for one callback, from its bytes to its outcome. `receive/` does (a), receiving bounded
 * bytes over HTTPS, and (h), responding. No step waits from the body's last byte to the look-up, which all callbacks of
 * one event loop turn share. None waits from there to the group that commits it.
 */
export function processCallback(callback: Callback, receiver: Receiver): void {
  const { scheme, contract } = callback.source;
  const challenge = contract.challenge?.(callback);
  if (challenge !== undefined) return void settleHandshake(callback, () => challenge);
  // (b) Verify the sender, over the bytes as they arrived.
  const span = receiver.tracer?.startSpan("verify");
  const verification = scheme.verify(callback);
  if (!(verification instanceof Promise)) return continueVerified(callback, verification, span, receiver);
  // A key has to be fetched.
  verification
    .then((result) => continueVerified(callback, result, span, receiver))
    .catch((error: unknown) => callback.settle({ outcome: failed("internal", error) }));
}

function continueVerified(
  callback: Callback,
  verification: VerificationResult,
  span: TraceSpan | undefined,
  receiver: Receiver,
): void {
  span?.end(verification);
  callback.bodyReservation?.release();
  if (!("verified" in verification)) return callback.settle({ outcome: verification });
  const { source, params } = callback;
  const tenant = params === undefined ? undefined : tenantName(params);
  receiver.observer.credentialsUsed(source.name, verification.verified, tenant);
  readCallback(callback, verification, receiver);
}

/** (c) Read the event's id, under which the record is looked up. */
function readCallback(callback: Callback, { signedText }: Verified, receiver: Receiver): void {
  const span = receiver.tracer?.startSpan("identify");
  const read = callback.source.contract.read(callback, signedText);
  span?.end(read);
  if (isRefused(read)) return void keepUnread(callback, read, signedText, receiver).then(callback.settle);
  processRead(callback, read, { signedText }, receiver);
}

interface Reading {
  readonly signedText?: Verified["signedText"];
  /** Of a callback that was kept; its events that cannot be read stay kept. */
  readonly rerun?: Delivery["rerun"];
}

export function processRead(callback: Callback, read: ReadCallback, reading: Reading, receiver: Receiver): void {
  if (read.kind === "event") return processDelivery(deliveryOf(callback, read.event, reading.rerun), receiver);
  if (read.kind === "batch") return processBatch(callback, read, reading, receiver);
  void settleHandshake(callback, read.respond, { isVerified: true });
}

/** Responds to a handshake, which is no event. An unsigned one changes nothing. */
async function settleHandshake(
  { settle }: Callback,
  respond: Extract<ReadCallback, { kind: "handshake" }>["respond"],
  verified: Pick<CallbackResult, "isVerified"> = {},
): Promise<void> {
  try {
    const response = await respond();
    settle(isRefused(response) ? { outcome: response } : { outcome: { kind: "handshake" }, ...verified, response });
  } catch (error) {
    settle({ outcome: failed("handshake_failed", error), ...verified });
  }
}

function deliveryOf(callback: Callback, content: EventContent, rerun?: Delivery["rerun"]): Delivery {
  const { source, version, deadline, context, buildLogEntry, settleItem, settle } = callback;
  const { contract, answer } = source;
  const key = { source: keySourceOf(callback), eventId: content.eventId };
  const answerBy = typeof answer === "object" ? callback.startedAt + answer.withinMs : undefined;
  return {
    key,
    content,
    contract,
    answer,
    answerBy,
    version,
    deadline,
    context,
    callback,
    original: originalOf(callback, callback.body),
    ...(rerun !== undefined && { rerun }),
    buildLogEntry,
    settleItem,
    settle,
  };
}

/** Each event has its record and transaction, and some run at a time; one response is for all of them. */
function processBatch(
  callback: Callback,
  { events, invalid }: Extract<ReadCallback, { kind: "batch" }>,
  { signedText, rerun }: Reading,
  receiver: Receiver,
): void {
  const start = (event: EventContent | Refused, settleEvent: (outcome: Outcome) => void): void => {
    if (isRefused(event)) {
      return void keepUnread(callback, event, signedText, receiver).then((result) => {
        callback.settleItem(result);
        settleEvent(result.outcome);
      });
    }
    const ofItem = (result: CallbackResult) => ({ ...result, itemBody: event.body, isJson: true });
    const settle = (result: CallbackResult): void => {
      callback.settleItem(ofItem(result));
      settleEvent(result.outcome);
    };
    const settleItem = (result: CallbackResult) => callback.settleItem(ofItem(result));
    const buildLogEntry = (result: CallbackResult) => callback.buildLogEntry(ofItem(result));
    const original = originalOf(callback, event.body);
    processDelivery({ ...deliveryOf(callback, event, rerun), original, buildLogEntry, settleItem, settle }, receiver);
  };
  const isKeptAlready = invalid === undefined || rerun !== undefined;
  const items = isKeptAlready ? events : [...events, invalid];
  const queueOf = (item: (typeof items)[number]) => {
    // An event that may be accepted never waits: it needs no queue of its order key.
    if (callback.source.answer !== "inline" || isRefused(item)) return item;
    const eventType = item.typeOf();
    return (!isRefused(eventType) && orderKeyOf(deliveryOf(callback, item), eventType, receiver)) || item;
  };
  runItems(items, start, (outcome) => callback.settle({ outcome, isVerified: true }), queueOf);
}

/** SPEC 1.7 (c) to (g) for an authenticated delivery: of a callback, or of an OAuth redirect. */
export function processDelivery(delivery: Delivery, receiver: Receiver): void {
  if (!receiver.registry.hasNamed(delivery.key.source)) return processForHandler(delivery, receiver);
  processForEach(delivery, receiver, processForHandler);
}

function processForHandler(delivery: Delivery, receiver: Receiver): void {
  const overloaded = receiver.concurrency.enter(delivery.key.source);
  if (overloaded === undefined) return receiver.store.lookUp(new DeliveryRun(delivery, receiver));
  if (delivery.answer === "inline") return delivery.settle({ outcome: overloaded });
  // The platform need not send the event again: once it is durable, it can run later.
  const { key, content } = delivery;
  const { isJson } = content;
  void acceptForLater(delivery, receiver).then((outcome) => {
    const type = content.typeOf();
    const eventType = isRefused(type) ? undefined : type;
    delivery.settle({ outcome, ...key, isJson, eventType, unhandled: unhandledEvent(delivery, outcome, eventType) });
  });
}
