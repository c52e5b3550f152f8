import { AsyncResource } from "node:async_hooks";
import {
  type AttemptOutcome,
  type CallbackEvent,
  type CallbackLogEntry,
  type Failed,
  failed,
  isRefused,
  type JsonObject,
  type JsonValue,
  readableError,
  sourceOf,
  success,
  tenantOf,
} from "../domain/index.ts";
import { type HandleContext, HandlerTimedOut, withSignal } from "../handlers/index.ts";
import type { TraceSpan } from "../observability/tracing/index.ts";
import {
  type Completion,
  type Deadline,
  type NewRecord,
  type OnceResult,
  type OnceScope,
  type PendingEvent,
  takeOrder,
} from "../store/index.ts";
import { outcomeOf, storableResult } from "./attempt-result.ts";
import { errorText } from "./error-text.ts";
import { takeSlot } from "./handler-slot.ts";
import { duplicateOutcome, withoutHandlerOf } from "./outcomes.ts";
import { prepareOnce } from "./prepare-once.ts";
import type { AttemptInput, Receiver, ValidatedAttempt } from "./receiver.ts";
import { StaleReplay } from "./stale-replay.ts";
import { StatementRecord } from "./statement-record.ts";
import { type Validation, validateEvent } from "./validate-event.ts";

/** @param logEntry the entry of the callback log that committed with a success */
export type SettleAttempt = (outcome: AttemptOutcome, logEntry?: CallbackLogEntry) => void;

/**
 * SPEC 1.7 (d) to (g) for an event whose type is known. It finds the handler, validates, and runs it once with the
 * record. Every kind of attempt comes here. Only one that has to wait is asynchronous before its transaction.
 */
export function startAttempt(input: AttemptInput, receiver: Receiver, settle: SettleAttempt): void {
  const handler = receiver.registry.find(input.key.source, input.version, input.eventType);
  if (handler === undefined) return settle(withoutHandlerOf(input.eventType, input.version));
  const { concurrency, order, prepare } = handler;
  const mayWait = concurrency !== undefined || order !== undefined || prepare !== undefined;
  try {
    const event = validateEvent(input, handler, receiver);
    if (mayWait || event instanceof Promise) return void startWaiting({ input, handler, event }, receiver, settle);
    if ("kind" in event) return settle(event);
    new Attempt({ input, handler, event }, receiver, settle).submit();
  } catch (error) {
    settle(invalidated(error));
  }
}

/** The event's validation, its slot of the handler, and `prepare`, one after the other; then its transaction. */
async function startWaiting(
  { input, handler, event }: Pick<ValidatedAttempt, "input" | "handler"> & { event: Validation },
  receiver: Receiver,
  settle: SettleAttempt,
): Promise<void> {
  let attempt: Attempt;
  try {
    const validated = await event;
    if ("kind" in validated) return settle(validated);
    const slot = await takeSlot(input, handler, receiver);
    if (slot !== undefined && "kind" in slot) return settle(slot);
    attempt = new Attempt({ input, handler, event: validated, slot }, receiver, settle);
  } catch (error) {
    return settle(invalidated(error));
  }
  await attempt.prepareAndSubmit();
}

/** A schema is the user's code, as the handler is: when it throws, the event is kept and retried. */
function invalidated(error: unknown): Failed {
  const code = error instanceof HandlerTimedOut ? "handler_timed_out" : "handler_failed";
  return failed(code, readableError(error));
}

/** An attempt outside a callback: a retry, a replay or a dry run. */
export function runEvent(input: AttemptInput, receiver: Receiver): Promise<AttemptOutcome> {
  return new Promise((resolve) => startAttempt(input, receiver, resolve));
}

/** Marks the span of a handler that ran without effect, since its transaction was lost. */
class TransactionLost extends Error {
  override readonly name = "TransactionLost";
  override readonly message = "the database lost the transaction of this run, and what it wrote";
}

/** The result of an event that is not run, since a newer event of the same key has run. */
const STALE: JsonObject = Object.freeze({ stale: true });

/** One attempt: the handler inside the transaction that holds the event's record. */
class Attempt implements PendingEvent {
  readonly record: NewRecord;
  readonly deadline: Deadline;
  readonly locksRows: boolean;
  readonly observer: StatementRecord | undefined;
  readonly replaces: PendingEvent["replaces"];
  readonly #validated: ValidatedAttempt;
  readonly #receiver: Receiver;
  readonly #settleInput: SettleAttempt;
  readonly #context: AsyncResource;
  #prepared: JsonValue | undefined;
  #runs = 0;
  #handlerStartedAt: number | undefined;
  #span: TraceSpan | undefined;
  #completion: Completion | undefined;
  #isStale = false;

  constructor(validated: ValidatedAttempt, receiver: Receiver, settle: SettleAttempt) {
    const { key, eventType, version, content, deadline, context } = validated.input;
    const { bodySha256 } = content;
    this.record = { source: key.source, eventId: key.eventId, eventType, version, bodySha256 };
    this.deadline = deadline;
    this.locksRows = validated.slot?.order !== undefined;
    this.observer =
      validated.input.mode === "commit" && receiver.statementLog !== undefined ? new StatementRecord() : undefined;
    this.replaces = validated.input.replaces;
    this.#validated = validated;
    this.#context = context ?? new AsyncResource("oncehook.attempt");
    this.#receiver = receiver;
    this.#settleInput = settle;
  }

  async prepareAndSubmit(): Promise<void> {
    try {
      if (this.#validated.handler.prepare !== undefined) {
        const preparation = await prepareOnce(this.#validated, this.#receiver);
        if ("kind" in preparation) return this.#settleWith(preparation);
        this.#prepared = preparation.value;
      }
      this.submit();
    } catch (error) {
      this.#settleWith(outcomeOf(error));
    }
  }

  submit(): void {
    const { mode, dryRun } = this.#validated.input;
    if (mode === "commit") this.#receiver.store.submit(this);
    else this.#receiver.store.dryRun(this, dryRun);
  }

  /** (e) Runs the handler, in the transaction that holds the record. */
  handle(scope: OnceScope): Promise<unknown> {
    return this.#context.runInAsyncScope(this.#startHandler, this, scope);
  }

  #startHandler(scope: OnceScope): Promise<unknown> {
    const { input, event } = this.#validated;
    this.#runs += 1;
    this.#handlerStartedAt = performance.now();
    (input.dryRun ?? this.observer)?.begin(input.content.json);
    this.#span?.fail(new TransactionLost());
    this.#span = this.#receiver.tracer?.startSpan(`handler ${input.eventType}`);
    return this.#runs > 1 ? this.#handleAgain(scope) : this.#handleInSpan(event, scope);
  }

  #handleInSpan(event: CallbackEvent<unknown>, scope: OnceScope): Promise<unknown> {
    if (this.#span === undefined) return this.#callHandler(event, scope);
    return this.#span.within(() => this.#callHandler(event, scope));
  }

  /** Runs the handler again after its transaction was lost. It gets a fresh copy: the earlier run may have changed the event. */
  async #handleAgain(scope: OnceScope): Promise<unknown> {
    const { input, handler } = this.#validated;
    const event = await validateEvent(input, handler, this.#receiver);
    if (!("kind" in event)) return this.#handleInSpan(event, scope);
    const why = isRefused(event) ? event.message : errorText((event as Failed).cause);
    throw new Error(`the event is not valid any more: ${why}`);
  }

  #callHandler(event: CallbackEvent<unknown>, scope: OnceScope): Promise<unknown> {
    const { handler, input, slot } = this.#validated;
    const prepared = this.#prepared;
    const { key, version, kind, dryRun } = input;
    const { clock, log, handlerLimit } = this.#receiver;
    const what = `the handler of "${event.event_type}"`;
    const context = {
      event,
      source: sourceOf(key),
      tenant: tenantOf(key),
      version,
      log,
      tx: scope.tx,
      // Each run gets a copy of what `prepare` returned.
      prepared: prepared === undefined ? undefined : structuredClone(prepared),
      attempt: kind,
      now: clock.now(),
      notify: notifier(scope, dryRun),
    };
    const handle = () => handlerLimit.run(what, (limit) => handler.handle(withSignal(context, limit)));
    if (slot?.order === undefined) return handle();
    // Locks the row of the event's key at the start of the transaction.
    return takeOrder(scope.tx, slot.order, context.now).then((isStale) => {
      this.#isStale = isStale;
      // Its result stays, as what it wrote does.
      if (isStale && input.replaces !== undefined) throw new StaleReplay();
      return isStale ? STALE : handle();
    });
  }

  /** (f) The result to record, and (g) the log entry that commits with it. */
  complete(returned: unknown): Completion {
    this.#handlerRan();
    const result = storableResult(returned);
    const { buildLogEntry, mode, original } = this.#validated.input;
    const logEntry = buildLogEntry?.(success(result));
    if (logEntry === undefined) this.#completion = { result };
    else this.#completion = original === undefined ? { result, logEntry } : { result, logEntry, original };
    this.#span?.end();
    const { tracer } = this.#receiver;
    const name = mode === "commit" ? "commit" : "rollback";
    // The store calls this in the asynchronous context of the event that began the group.
    this.#span = tracer && this.#context.runInAsyncScope(tracer.startSpan, tracer, name);
    return this.#completion;
  }

  /** (h) The transaction has ended: the outcome goes back to the response. */
  settle(result: OnceResult): void {
    const { input } = this.#validated;
    if (result.kind === "duplicate") {
      this.#span?.fail(new TransactionLost());
      return this.#settleWith(duplicateOutcome(result.record, input.content.bodySha256, this.#receiver));
    }
    this.#span?.end();
    if (this.#isStale && input.mode === "commit") this.#receiver.observer.staleEvent(input.key);
    this.#settleWith(success(result.result), this.#completion?.logEntry);
  }

  #handlerRan(): void {
    const { input, handler } = this.#validated;
    if (this.#handlerStartedAt === undefined) return;
    this.#receiver.observer.handlerRan(input.key, handler.type, performance.now() - this.#handlerStartedAt);
    this.#handlerStartedAt = undefined;
  }

  fail(error: unknown): void {
    if (error instanceof HandlerTimedOut) this.#handlerRan();
    this.#span?.fail(error);
    // The rest must log in this event's trace, and not in that of the event that began the group.
    this.#context.runInAsyncScope(this.#settleWith, this, outcomeOf(error));
  }

  #settleWith(outcome: AttemptOutcome, logEntry?: CallbackLogEntry): void {
    const { input, slot } = this.#validated;
    slot?.release();
    this.#receiver.observer.attempted(input.key, input.kind, outcome);
    this.#settleInput(outcome, logEntry);
    // Behind the response: its values are masked now.
    if (this.observer !== undefined && this.#runs > 0)
      this.#receiver.statementLog?.note({ key: input.key, kind: input.kind, outcome, record: this.observer });
  }
}

function notifier(scope: OnceScope, dryRun: AttemptInput["dryRun"]): HandleContext["notify"] {
  if (dryRun === undefined) return (topic, payload) => scope.enqueue({ topic, payload });
  return async (topic, payload) => {
    await scope.enqueue({ topic, payload });
    dryRun.notified(topic, payload);
  };
}
