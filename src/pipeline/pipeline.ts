import {
  failed,
  isRefused,
  type JsonObject,
  type Outcome,
  type Refused,
  readableError,
  refused,
  type Version,
} from "../domain/index.ts";
import { HandlerTimedOut } from "../handlers/index.ts";
import { inSpan } from "../observability/tracing/index.ts";
import type { Deadline } from "../store/index.ts";
import { runAttempt } from "./attempt.ts";
import { faultsAsOutcome } from "./concurrency.ts";

import { duplicateOutcome } from "./duplicate-outcome.ts";
import type { IdentifiedEvent } from "./identify.ts";
import { identify, sha256Hex } from "./identify.ts";
import type { AttemptInput, BuildLogEntry, Callback, CallbackResult, Receiver } from "./receiver.ts";
import { storeFailure } from "./store-failure.ts";
import { validateEvent } from "./validate-event.ts";

/**
 * The sequence of SPEC 1.7 for one callback, from its bytes to its outcome. What comes before, (a) receiving
 * bounded bytes over HTTPS, and after, (h) answering, is `http/`'s.
 */
export async function processCallback(
  callback: Callback,
  receiver: Receiver,
  buildLogEntry: BuildLogEntry,
): Promise<CallbackResult> {
  // (b) verify who sent it, over the bytes as they arrived.
  const verifying = receiver.tracer?.startSpan("verify");
  const verdict = await callback.source.scheme.verify(callback);
  verifying?.end(verdict);
  callback.onVerified?.();
  if (!("verified" in verdict)) return { outcome: verdict };
  receiver.observer.credentialsUsed(verdict.verified);

  // (c) the event's id: whether it was handled before is looked up under it.
  const identifying = receiver.tracer?.startSpan("identify");
  const identified = identify(callback.body, callback.source.name);
  identifying?.end(identified);
  if (isRefused(identified)) return { outcome: identified };

  // (c) to (g): the look-up, dispatch, the handler, the record and the log.
  const typeOf = () => chooseType(callback, identified, receiver);
  const bodySha256 = sha256Hex(callback.body);
  const { key, json } = identified;
  const { version, body, deadline } = callback;
  const delivery = { key, json, bodyJson: json, body, bodySha256, version, deadline, chooseType: typeOf };
  return receiver.concurrency.run(() => processDelivery(delivery, receiver, buildLogEntry));
}

/** An authenticated delivery of an identified event. */
export interface Delivery extends IdentifiedEvent {
  /** The event's bytes, kept for a retry. */
  readonly body: Uint8Array;
  /** SHA-256 of what was sent, lowercase hex: tells a duplicate from another event under the same id. */
  readonly bodySha256: string;
  readonly version: Version;
  readonly deadline: Deadline;
  /** What the body held, for the log, where that is JSON. */
  readonly bodyJson?: JsonObject;
  /** Asked only for an event that was not handled before: a duplicate is one whatever its type (SPEC 4.1). */
  chooseType(): string | Refused;
}

interface KnownFields extends Omit<CallbackResult, "outcome"> {
  readonly eventId: string;
  eventType?: string;
}

/** Phases (c) to (g) of SPEC 1.7, for callbacks and OAuth redirects alike. Deliveries of one event go one by one. */
export async function processDelivery(
  delivery: Delivery,
  receiver: Receiver,
  buildLogEntry: BuildLogEntry,
): Promise<CallbackResult> {
  const { key, bodySha256, bodyJson, deadline } = delivery;
  const facts: KnownFields = { eventId: key.eventId, ...(bodyJson && { bodyJson }) };

  // (c) the idempotency check.
  const lookUp = async (): Promise<Outcome | undefined> => {
    const record = await receiver.store.find(key, deadline);
    if (record === undefined) return undefined;
    facts.eventType = record.eventType;
    return duplicateOutcome(record, bodySha256, receiver);
  };

  const processLocked = async (hasWaited: boolean): Promise<Outcome> => {
    // Whoever waited for another delivery of the event looks again.
    const duplicate = hasWaited ? await lookUp() : undefined;
    if (duplicate !== undefined) return duplicate;

    // (d) dispatch on the event's type.
    const eventType = delivery.chooseType();
    if (isRefused(eventType)) return eventType;
    facts.eventType = eventType;

    // (e) run the handler, (f) mark the event processed and (g) log, in one transaction.
    const ended = (outcome: Outcome) => buildLogEntry({ outcome, ...facts });
    const work = { ...delivery, eventType, kind: "inline", mode: "commit", buildLogEntry: ended } as const;
    const result = await runEvent(work, receiver);

    // A failure is kept for its retry (SPEC 1.10) before the platform hears of it.
    if (result.kind === "failed") await storeFailure(work, result, receiver);
    return result;
  };

  // A record that comes to be between the two is found by the transaction itself.
  const run = async () => (await lookUp()) ?? receiver.eventLock.run(key, deadline, processLocked);
  const outcome = await inSpan(receiver.tracer?.startSpan("once"), faultsAsOutcome, run);
  return { outcome, ...facts };
}

/** From a known type to an outcome: find the handler, validate, run once. The same for every kind of attempt. */
export async function runEvent(work: AttemptInput, receiver: Receiver): Promise<Outcome> {
  const handler = receiver.registry.find(work.version, work.eventType);
  if (handler === undefined) {
    return refused("event_type_unknown", { detail: `no handler for "${work.eventType}" in ${work.version}` });
  }
  // A schema is the user's code like the handler itself: when it throws, the event is kept and retried.
  const validation = validateEvent(work, handler, receiver);
  const event = await validation.catch((error: unknown) =>
    failed(error instanceof HandlerTimedOut ? "handler_timed_out" : "handler_failed", readableError(error)),
  );
  if ("kind" in event) return event;
  const outcome = await runAttempt({ ...work, handler, event }, receiver);
  receiver.observer.attempted(work.kind, outcome);
  return outcome;
}

const HEADER = "x-event-type";

/**
 * Phase (d), SPEC 4.1 rule 1: the type is the header's in the full flow and the body's in the simplified one.
 * The header is not signed, so a disagreement is reported, and refused where the configuration says so.
 */
function chooseType(
  callback: Callback,
  { json, key }: IdentifiedEvent,
  receiver: Receiver,
): string | Refused {
  const { eventTypeFrom, rejectTypeMismatch } = receiver.settings;
  const headers = callback.headers[HEADER] ?? [];
  // An empty header names no type, as an absent one does.
  const header = headers[0] === "" ? undefined : headers[0];
  const body = json.event_type;
  if (headers.length > 1)
    return refused("event_type_mismatch", { message: "X-Event-Type stands more than once" });
  if (eventTypeFrom === "body" || (eventTypeFrom === "either" && header === undefined)) {
    return typeof body === "string" && body !== "" ? body : missing("event_type in the body");
  }
  if (header === undefined) return missing("the X-Event-Type header");
  if (typeof body === "string" && body !== header) {
    if (rejectTypeMismatch) return refused("event_type_mismatch");
    receiver.observer.typeMismatch(key, header, body);
  }
  return header;
}

function missing(where: string): Refused {
  return refused("event_type_missing", { message: `the event type is missing: expected ${where}` });
}
