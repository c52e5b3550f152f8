import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { type Failed, isRefused, type Outcome, type Refused } from "../domain/index.ts";
import type { TraceSpan } from "../observability/tracing/index.ts";
import type { Deadline, PendingLookup, StoredRecord } from "../store/index.ts";
import type { Release } from "../system/index.ts";
import { acceptEvent, acceptForLater, recordAcceptedRun } from "./accept-event.ts";
import { startAttempt } from "./attempt.ts";
import { faultOutcome } from "./concurrency.ts";
import { keepRefused } from "./keep-rejected.ts";
import { unhandledEvent } from "./original-of.ts";
import { duplicateOutcome, unwantedOutcome } from "./outcomes.ts";
import type { AttemptInput, CallbackResult, Delivery, Receiver } from "./receiver.ts";
import { storeFailure } from "./store-failure.ts";

type RunState =
  | { readonly kind: "unanswered" }
  /** Answer mode `within`: its time is over, and the event is being accepted. */
  | { readonly kind: "accepting"; readonly done: Promise<void> }
  /** The event is durable and the platform has its response. The run goes on, and leases the event. */
  | { readonly kind: "accepted"; readonly leaseOwner: string }
  | { readonly kind: "settled" };

const UNANSWERED: RunState = { kind: "unanswered" };
const SETTLED: RunState = { kind: "settled" };

/** A delivery on its way from the look-up to its outcome. */
export class DeliveryRun implements PendingLookup {
  readonly key: Delivery["key"];
  readonly deadline: Deadline;
  readonly #delivery: Delivery;
  readonly #receiver: Receiver;
  readonly #span: TraceSpan | undefined;
  /** The store calls back in the context of another delivery. */
  readonly #context: AsyncResource;
  readonly #startedAt: Date;
  #eventType: string | undefined;
  #unlock: Release | undefined;
  #answerTimer: NodeJS.Timeout | undefined;
  #state: RunState = UNANSWERED;

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
  resolve(record: StoredRecord | undefined): void {
    this.#context.runInAsyncScope(this.#onLookup, this, record);
  }

  reject(error: unknown): void {
    this.#context.runInAsyncScope(this.#settle, this, faultOutcome(error));
  }

  #onLookup(record: StoredRecord | undefined): void {
    try {
      if (record === undefined) return this.#startUnrecorded();
      this.#eventType = record.eventType;
      this.#settle(duplicateOutcome(record, this.#delivery.content.bodySha256, this.#receiver));
    } catch (error) {
      this.#settle(faultOutcome(error));
    }
  }

  #startUnrecorded(): void {
    if (this.#delivery.answer === "after")
      return void acceptForLater(this.#delivery, this.#receiver).then((outcome) => {
        const eventType = this.#delivery.content.typeOf();
        if (!isRefused(eventType)) this.#eventType = eventType;
        this.#settle(outcome);
      });
    this.#startAnswerTimer();
    this.#dispatchLocked();
  }

  /** Deliveries of one event run one by one; one that has waited for another looks again. */
  #dispatchLocked(): void {
    const { eventLock, store } = this.#receiver;
    this.#unlock ??= eventLock.tryAcquire(this.key);
    if (this.#unlock !== undefined) return this.#dispatch();
    void eventLock.acquire(this.key, this.deadline).then((release) => {
      if (typeof release !== "function") return this.#settle(release);
      this.#unlock = release;
      store.lookUp(this);
    });
  }

  /** (d) Dispatch on the event's type; (e) run the handler, (f) record the event, (g) log it, in one transaction. */
  #dispatch(): void {
    const { key, content, version, deadline, original, buildLogEntry, rerun } = this.#delivery;
    const { isJson } = content;
    const eventType = content.typeOf();
    if (isRefused(eventType)) return void this.#keep(eventType);
    this.#eventType = eventType;
    const unwanted = unwantedOutcome(this.#delivery, eventType, this.#receiver);
    if (unwanted !== undefined) return this.#settle(unwanted);
    const input: AttemptInput = {
      key,
      content,
      version,
      eventType,
      deadline,
      kind: "inline",
      mode: "commit",
      mayBeAccepted: this.#delivery.answer !== "inline" && rerun === undefined,
      ...rerun,
      original,
      context: this.#context,
      buildLogEntry: (outcome) =>
        this.#state.kind === "accepted" ? undefined : buildLogEntry({ outcome, ...key, eventType, isJson }),
    };
    startAttempt(input, this.#receiver, (outcome, logEntry) => {
      const isUnkept = input.mode === "dry-run" || (outcome.kind !== "failed" && outcome.kind !== "refused");
      if (isUnkept) this.#settle(outcome, logEntry);
      else void this.#keep(outcome, input);
    });
  }

  /** Before the response, a failure is kept for its retry (SPEC 1.10), and a rejected event for a replay. */
  async #keep(outcome: Failed | Refused, input?: AttemptInput): Promise<void> {
    clearTimeout(this.#answerTimer);
    // Otherwise it could be accepted after it was kept, and the poller would run it at once.
    if (this.#state.kind === "accepting") await this.#state.done;
    // An event that waited for its handler's slot would hold a place of the concurrency limit: it is accepted instead.
    const isBusy = outcome.code === "handler_busy" && input?.mayBeAccepted === true;
    if (isBusy && this.#state.kind !== "accepted")
      return this.#settle(await acceptForLater(this.#delivery, this.#receiver));
    if (outcome.kind === "refused")
      return this.#settle(await keepRefused(this.#delivery, input?.eventType ?? "", outcome, this.#receiver));
    const isKept = input !== undefined && (await storeFailure(input, outcome, this.#receiver));
    const { contract, callback: { deliveryId } = {} } = this.#delivery;
    // After a 500 the platform would send it under a new key. That delivery and our retry would both take effect.
    const keyChanges =
      contract.keysChangeWithDelivery || (deliveryId !== undefined && this.key.eventId.startsWith(deliveryId));
    this.#settle(isKept && keyChanges ? { ...outcome, isKept } : outcome);
  }

  /** Answer mode `within`: the timer runs while the event waits for another delivery, too. */
  #startAnswerTimer(): void {
    const { answerBy } = this.#delivery;
    if (answerBy === undefined || this.#answerTimer !== undefined) return;
    const answer = () => {
      this.#state = { kind: "accepting", done: this.#answerEarly() };
    };
    this.#answerTimer = setTimeout(answer, Math.max(0, answerBy - performance.now()));
  }

  /** Without an acceptance the response stays that of the run. On SQLite the row waits behind a running `handle`. */
  async #answerEarly(): Promise<void> {
    const { content } = this.#delivery;
    const { clock, settings, store, log } = this.#receiver;
    const eventType = content.typeOf();
    if (isRefused(eventType)) return;
    // The run that goes on holds it; once the lease has expired, its process has ended.
    const now = clock.now();
    const lease = { owner: randomUUID(), now, until: new Date(now.getTime() + settings.retry.leaseMs) };
    try {
      // An event that is refused or ignored gets that response from its dispatch.
      if (unwantedOutcome(this.#delivery, eventType, this.#receiver) !== undefined) return;
      await acceptEvent(this.#delivery, eventType, this.#receiver, lease);
      if (this.#state.kind === "settled") return await store.failureLeases.release(this.key, lease.owner);
    } catch (err) {
      return log.warn({ err, event_id: this.key.eventId }, "an event could not be accepted before it was run");
    }
    this.#eventType = eventType;
    this.#state = { kind: "accepted", leaseOwner: lease.owner };
    this.#respond({ kind: "accepted" });
  }

  #settle(outcome: Outcome, logEntry?: CallbackResult["logEntry"]): void {
    const state = this.#state;
    this.#state = SETTLED;
    clearTimeout(this.#answerTimer);
    this.#unlock?.();
    this.#receiver.concurrency.leave(this.key.source);
    this.#span?.end(outcome);
    if (state.kind !== "accepted") return this.#respond(outcome, logEntry);
    const run = { startedAt: this.#startedAt, leaseOwner: state.leaseOwner };
    void recordAcceptedRun(this.#delivery, run, outcome, this.#receiver);
  }

  #respond(outcome: Outcome, logEntry?: CallbackResult["logEntry"]): void {
    const { content, settle } = this.#delivery;
    const { isJson } = content;
    const eventType = this.#eventType;
    const unhandled = unhandledEvent(this.#delivery, outcome, eventType);
    settle({ outcome, ...this.key, eventType, isJson, logEntry, unhandled });
  }
}
