import { AsyncResource } from "node:async_hooks";
import { type Failed, failed, isRefused, type Outcome, type Refused, refused } from "../domain/index.ts";
import type { TraceSpan } from "../observability/tracing/index.ts";
import { sha256Hex, type VerificationResult } from "../sources/index.ts";
import type { Deadline, PendingLookup, StoredRecord } from "../store/index.ts";
import { startAttempt } from "./attempt.ts";
import { faultOutcome } from "./concurrency.ts";
import { duplicateOutcome } from "./duplicate-outcome.ts";
import { type IdentifiedEvent, identify } from "./identify.ts";
import type { AttemptInput, Callback, CallbackResult, Receiver } from "./receiver.ts";
import { storeFailure } from "./store-failure.ts";

/**
 * The sequence of SPEC 1.7 for one callback, from its bytes to its outcome. What comes before, (a) receiving bounded
 * bytes over HTTPS, and after, (h) responding, is `http/`'s. It runs without waiting from the body's last byte to the
 * look-up, which all callbacks of one turn of the event loop share, and from there to the group that commits it.
 */
export function processCallback(callback: Callback, receiver: Receiver): void {
  // (b) Verify the sender, over the bytes as they arrived.
  const span = receiver.tracer?.startSpan("verify");
  const verification = callback.source.scheme.verify(callback);
  if (!(verification instanceof Promise)) return goOnVerified(callback, verification, span, receiver);
  // A key has to be fetched.
  verification
    .then((found) => goOnVerified(callback, found, span, receiver))
    .catch((error: unknown) => callback.end({ outcome: failed("internal", error) }));
}

function goOnVerified(
  callback: Callback,
  verification: VerificationResult,
  span: TraceSpan | undefined,
  receiver: Receiver,
): void {
  span?.end(verification);
  callback.bodyReservation?.release();
  if (!("verified" in verification)) return callback.end({ outcome: verification });
  receiver.observer.credentialsUsed(verification.verified);
  identifyCallback(callback, receiver);
}

/** (c) Read the event's id, under which the record is looked up. */
function identifyCallback(callback: Callback, receiver: Receiver): void {
  const span = receiver.tracer?.startSpan("identify");
  const identified = identify(callback.body, callback.source.name);
  span?.end(identified);
  if (isRefused(identified)) return callback.end({ outcome: identified });
  const { key, json } = identified;
  const { version, body, deadline, context, buildLogEntry, end } = callback;
  const delivery = {
    key,
    json,
    bodyJson: json,
    body,
    bodySha256: sha256Hex(body),
    version,
    deadline,
    context,
    buildLogEntry,
    end,
  };
  processDelivery(delivery, () => chooseType(callback, identified, receiver), receiver);
}

/** An authenticated delivery of an identified event. */
export interface Delivery
  extends IdentifiedEvent,
    Pick<Callback, "body" | "version" | "deadline" | "context" | "buildLogEntry" | "end">,
    Pick<CallbackResult, "bodyJson"> {
  /** SHA-256 of what was sent, lowercase hex: tells a duplicate from another event under the same id. */
  readonly bodySha256: string;
}

/**
 * SPEC 1.7 (c) to (g) for an authenticated delivery: of a callback, or of an OAuth redirect.
 * @param typeOf asked only for an event that has no record: a duplicate is one whatever its type (SPEC 4.1)
 */
export function processDelivery(
  delivery: Delivery,
  typeOf: () => string | Refused,
  receiver: Receiver,
): void {
  const overloaded = receiver.concurrency.enter();
  if (overloaded !== undefined) return delivery.end({ outcome: overloaded });
  receiver.store.lookUp(new DeliveryRun(delivery, typeOf, receiver));
}

/** A delivery on its way from the look-up to its outcome. */
class DeliveryRun implements PendingLookup {
  readonly key: Delivery["key"];
  readonly deadline: Deadline;
  readonly #delivery: Delivery;
  readonly #receiver: Receiver;
  readonly #span: TraceSpan | undefined;
  readonly #typeOf: () => string | Refused;
  /** The store calls back in the context of another delivery. */
  readonly #context: AsyncResource;
  #eventType: string | undefined;
  #hasLock = false;

  constructor(delivery: Delivery, typeOf: () => string | Refused, receiver: Receiver) {
    this.key = delivery.key;
    this.deadline = delivery.deadline;
    this.#delivery = delivery;
    this.#receiver = receiver;
    this.#span = receiver.tracer?.startSpan("once");
    this.#typeOf = typeOf;
    this.#context = this.#span?.within(() => new AsyncResource("oncehook.delivery")) ?? delivery.context;
  }

  /** (c) A completed record makes this a duplicate. */
  answered(record: StoredRecord | undefined): void {
    this.#context.runInAsyncScope(this.#goOn, this, record);
  }

  unanswered(error: unknown): void {
    this.#context.runInAsyncScope(this.#end, this, faultOutcome(error));
  }

  #goOn(record: StoredRecord | undefined): void {
    try {
      if (record === undefined) return this.#dispatchLocked();
      this.#eventType = record.eventType;
      this.#end(duplicateOutcome(record, this.#delivery.bodySha256, this.#receiver));
    } catch (error) {
      this.#end(faultOutcome(error));
    }
  }

  /** Deliveries of one event run one by one; one that has waited for another looks again. */
  #dispatchLocked(): void {
    const { eventLock, store } = this.#receiver;
    this.#hasLock ||= eventLock.tryTake(this.key);
    if (this.#hasLock) return this.#dispatch();
    const taken = () => {
      this.#hasLock = true;
      store.lookUp(this);
    };
    eventLock.wait(this.key, this.deadline, taken, (late) => this.#end(late));
  }

  /** (d) Dispatch on the event's type; (e) run the handler, (f) record the event and (g) log it, in one transaction. */
  #dispatch(): void {
    const { key, json, body, bodySha256, version, deadline, bodyJson, buildLogEntry } = this.#delivery;
    const eventType = this.#typeOf();
    if (isRefused(eventType)) return this.#end(eventType);
    this.#eventType = eventType;
    const input: AttemptInput = {
      key,
      json,
      body,
      bodySha256,
      version,
      eventType,
      deadline,
      kind: "inline",
      mode: "commit",
      context: this.#context,
      buildLogEntry: (outcome) => buildLogEntry({ outcome, eventId: key.eventId, eventType, bodyJson }),
    };
    startAttempt(input, this.#receiver, (outcome, logEntry) => {
      if (outcome.kind === "failed") void this.#storeFailure(input, outcome);
      else this.#end(outcome, logEntry);
    });
  }

  /** A failure is kept for its retry (SPEC 1.10) before the platform gets its response. */
  async #storeFailure(input: AttemptInput, outcome: Failed): Promise<void> {
    await storeFailure(input, outcome, this.#receiver);
    this.#end(outcome);
  }

  #end(outcome: Outcome, logEntry?: CallbackResult["logEntry"]): void {
    if (this.#hasLock) this.#receiver.eventLock.release(this.key);
    this.#receiver.concurrency.leave();
    this.#span?.end(outcome);
    const { bodyJson, end } = this.#delivery;
    end({ outcome, eventId: this.key.eventId, eventType: this.#eventType, bodyJson, logEntry });
  }
}

const HEADER = "x-event-type";

/**
 * Step (d), SPEC 4.1 rule 1: the type is the header's in the full flow and the body's in the simplified one.
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
