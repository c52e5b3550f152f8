import { AsyncResource } from "node:async_hooks";
import {
  type AttemptOutcome,
  type Failed,
  failed,
  isRefused,
  type Outcome,
  tenantOf,
  tenantSource,
} from "../domain/index.ts";
import type { TraceSpan } from "../observability/tracing/index.ts";
import type { EventContent, ReadCallback, VerificationResult } from "../sources/index.ts";
import type { Deadline, PendingLookup, StoredRecord } from "../store/index.ts";
import { acceptEvent, acceptForLater, isIgnored, settleAccepted } from "./accept-event.ts";
import { startAttempt } from "./attempt.ts";
import { runBatch } from "./batch.ts";
import { faultOutcome } from "./concurrency.ts";
import { duplicateOutcome } from "./duplicate-outcome.ts";
import type { AttemptInput, Callback, CallbackResult, Delivery, Receiver } from "./receiver.ts";
import { processForEach } from "./several-handlers.ts";
import { storeFailure } from "./store-failure.ts";

type Handshake = Extract<ReadCallback, { kind: "handshake" }>;

/**
 * The sequence of SPEC 1.7 for one callback, from its bytes to its outcome. What comes before, (a) receiving bounded
 * bytes over HTTPS, and after, (h) responding, is `http/`'s. It runs without waiting from the body's last byte to the
 * look-up, which all callbacks of one turn of the event loop share, and from there to the group that commits it.
 */
export function processCallback(callback: Callback, receiver: Receiver): void {
  const { scheme, contract } = callback.source;
  const challenge = contract.challenge?.(callback);
  if (challenge !== undefined) return void endHandshake(callback, () => challenge);
  // (b) Verify the sender, over the bytes as they arrived.
  const span = receiver.tracer?.startSpan("verify");
  const verification = scheme.verify(callback);
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
  const { source, params } = callback;
  const tenant = params === undefined ? undefined : tenantOf({ source: tenantSource(source.name, params) });
  receiver.observer.credentialsUsed(source.name, verification.verified, tenant);
  readCallback(callback, receiver);
}

/** (c) Read the event's id, under which the record is looked up. */
function readCallback(callback: Callback, receiver: Receiver): void {
  const span = receiver.tracer?.startSpan("identify");
  const found = callback.source.contract.read(callback);
  span?.end(found);
  if (isRefused(found)) return callback.end({ outcome: found });
  if (found.kind === "event") return processDelivery(deliveryOf(callback, found.event), receiver);
  if (found.kind === "batch") return processBatch(callback, found.events, receiver);
  void endHandshake(callback, found.respond, { isVerified: true });
}

/** What the platform asks of this address is no event; an unsigned question changes nothing. */
async function endHandshake(
  { end }: Callback,
  respond: Handshake["respond"],
  verified: Pick<CallbackResult, "isVerified"> = {},
): Promise<void> {
  try {
    const response = await respond();
    end(
      isRefused(response) ? { outcome: response } : { outcome: { kind: "handshake" }, ...verified, response },
    );
  } catch (error) {
    end({ outcome: failed("handshake_failed", error), ...verified });
  }
}

function deliveryOf(callback: Callback, content: EventContent): Delivery {
  const { source, version, deadline, context, buildLogEntry, endItem, end } = callback;
  const { contract, answer } = source;
  const { params } = callback;
  const { name } = source;
  const key = { source: params === undefined ? name : tenantSource(name, params), eventId: content.eventId };
  const answerBy = typeof answer === "object" ? callback.startedAt + answer.withinMs : undefined;
  return {
    key,
    content,
    contract,
    answer,
    answerBy,
    isJson: content.isJson,
    version,
    deadline,
    context,
    buildLogEntry,
    endItem,
    end,
  };
}

/** Each event with a record and a transaction of its own, some of them at a time; one response for all of them. */
function processBatch(callback: Callback, events: readonly EventContent[], receiver: Receiver): void {
  const start = (event: EventContent, ended: (outcome: Outcome) => void): void => {
    const ofItem = (result: CallbackResult) => ({ ...result, itemBody: event.body, isJson: true });
    const end = (result: CallbackResult): void => {
      callback.endItem(ofItem(result));
      ended(result.outcome);
    };
    const endItem = (result: CallbackResult) => callback.endItem(ofItem(result));
    const buildLogEntry = (result: CallbackResult) => callback.buildLogEntry(ofItem(result));
    processDelivery({ ...deliveryOf(callback, event), buildLogEntry, endItem, end }, receiver);
  };
  runBatch(events, start, (outcome) => callback.end({ outcome, isVerified: true }));
}

/** SPEC 1.7 (c) to (g) for an authenticated delivery: of a callback, or of an OAuth redirect. */
export function processDelivery(delivery: Delivery, receiver: Receiver): void {
  if (!receiver.registry.hasNamed(delivery.key.source)) return processForHandler(delivery, receiver);
  processForEach(delivery, receiver, processForHandler);
}

function processForHandler(delivery: Delivery, receiver: Receiver): void {
  const overloaded = receiver.concurrency.enter();
  if (overloaded === undefined) return receiver.store.lookUp(new DeliveryRun(delivery, receiver));
  if (delivery.answer === "inline") return delivery.end({ outcome: overloaded });
  // Its platform need not come again: what is durable can be run later.
  void acceptForLater(delivery, receiver).then((outcome) => delivery.end({ outcome, ...describe(delivery) }));
}

function describe({ key, isJson }: Delivery): Pick<CallbackResult, "eventId" | "isJson"> {
  return { eventId: key.eventId, isJson };
}

/** A delivery on its way from the look-up to its outcome. */
class DeliveryRun implements PendingLookup {
  readonly key: Delivery["key"];
  readonly deadline: Deadline;
  readonly #delivery: Delivery;
  readonly #receiver: Receiver;
  readonly #span: TraceSpan | undefined;
  /** The store calls back in the context of another delivery. */
  readonly #context: AsyncResource;
  readonly #startedAt: Date;
  #eventType: string | undefined;
  #hasLock = false;
  #answerTimer: NodeJS.Timeout | undefined;
  /** The platform has its response, and the event is durable: the run goes on without them. */
  #isAnswered = false;
  #outcome: Outcome | undefined;

  constructor(delivery: Delivery, receiver: Receiver) {
    this.key = delivery.key;
    this.deadline = delivery.deadline;
    this.#delivery = delivery;
    this.#receiver = receiver;
    this.#startedAt = receiver.clock.now();
    this.#span = receiver.tracer?.startSpan("once");
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
      if (record === undefined) return this.#goOnUnrecorded();
      this.#eventType = record.eventType;
      this.#end(duplicateOutcome(record, this.#delivery.content.bodySha256, this.#receiver));
    } catch (error) {
      this.#end(faultOutcome(error));
    }
  }

  #goOnUnrecorded(): void {
    if (this.#delivery.answer === "after")
      return void acceptForLater(this.#delivery, this.#receiver).then((outcome) => this.#end(outcome));
    this.#startAnswerTimer();
    this.#dispatchLocked();
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
    const { key, content, contract, version, deadline, isJson, buildLogEntry } = this.#delivery;
    const eventType = content.typeOf();
    if (isRefused(eventType)) return this.#end(eventType);
    this.#eventType = eventType;
    if (isIgnored(this.#delivery, eventType, this.#receiver)) return this.#end({ kind: "ignored" });
    const input: AttemptInput = {
      key,
      content,
      isIdSigned: contract.isIdSigned,
      version,
      eventType,
      deadline,
      kind: "inline",
      mode: "commit",
      context: this.#context,
      buildLogEntry: (outcome) =>
        this.#isAnswered ? undefined : buildLogEntry({ outcome, ...key, eventType, isJson }),
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

  /** Answer mode `within`: the timer runs while the event waits for another delivery, too. */
  #startAnswerTimer(): void {
    const { answerBy } = this.#delivery;
    if (answerBy === undefined || this.#answerTimer !== undefined) return;
    this.#answerTimer = setTimeout(() => void this.#answerEarly(), Math.max(0, answerBy - performance.now()));
  }

  async #answerEarly(): Promise<void> {
    const { content } = this.#delivery;
    const { clock, settings, store, log } = this.#receiver;
    const eventType = content.typeOf();
    // It has passed the filters, or waits for another delivery whose end decides.
    if (isRefused(eventType) || !this.#isWanted(eventType)) return;
    // By then this run has ended, or its process.
    const runAt = new Date(clock.now().getTime() + settings.retry.leaseMs);
    try {
      await acceptEvent(this.#delivery, eventType, runAt, this.#receiver);
      if (this.#outcome?.kind === "refused") await store.failures.remove(this.key);
    } catch (err) {
      return log.warn(
        { err, event_id: this.key.eventId },
        "an event could not be accepted before it was run",
      );
    }
    if (this.#outcome !== undefined) return;
    this.#eventType = eventType;
    this.#isAnswered = true;
    this.#respond({ kind: "accepted" });
  }

  /** False for an event that is ignored, or whose filter throws: its dispatch says so. */
  #isWanted(eventType: string): boolean {
    try {
      return !isIgnored(this.#delivery, eventType, this.#receiver);
    } catch {
      return false;
    }
  }

  #end(outcome: Outcome, logEntry?: CallbackResult["logEntry"]): void {
    clearTimeout(this.#answerTimer);
    this.#outcome = outcome;
    if (this.#hasLock) this.#receiver.eventLock.release(this.key);
    this.#receiver.concurrency.leave();
    this.#span?.end(outcome);
    if (!this.#isAnswered) return this.#respond(outcome, logEntry);
    const run = { eventType: this.#eventType as string, startedAt: this.#startedAt };
    void settleAccepted(this.#delivery, run, outcome as AttemptOutcome, this.#receiver);
  }

  #respond(outcome: Outcome, logEntry?: CallbackResult["logEntry"]): void {
    const { isJson, end } = this.#delivery;
    end({ outcome, ...this.key, eventType: this.#eventType, isJson, logEntry });
  }
}
