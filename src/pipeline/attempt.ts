import {
  failed,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Outcome,
  readableError,
  refused,
  success,
} from "../domain/index.ts";
import { type HandleContext, HandlerTimedOut, isRejected, withTimeLimit } from "../handlers/index.ts";
import { inSpan, type TraceSpan } from "../observability/tracing/index.ts";
import { type Completion, type OnceScope, StoreError } from "../store/index.ts";
import type { DryRun } from "./dry-run.ts";
import { duplicateOutcome } from "./duplicate-outcome.ts";
import { errorText } from "./error-text.ts";
import { prepareOnce } from "./prepare-once.ts";
import type { Receiver, ValidatedAttempt } from "./receiver.ts";
import { validateEvent } from "./validate-event.ts";

/** A handler's answer that cannot be stored or sent. */
class ResultInvalid extends Error {
  override readonly name = "ResultInvalid";
}

/** Why a trace shows a handler that ran, and no effect of it. */
class TransactionLost extends Error {
  override readonly name = "TransactionLost";

  constructor() {
    super("the database lost the transaction of this run, and what it wrote");
  }
}

/** One run of a handler: its `prepare`, then `handle` inside the transaction that holds the event's record. */
export async function runAttempt(work: ValidatedAttempt, receiver: Receiver): Promise<Outcome> {
  const { key, eventType, version, bodySha256, deadline, mode, dryRun } = work;
  const { tracer } = receiver;
  let closingSpan: TraceSpan | undefined;
  try {
    const preparation = await prepareOnce(work, receiver);
    if (preparation.state === "ended") return preparation.outcome;
    let runs = 0;
    const ending = await receiver.store.once(
      { ...key, eventType, version, bodySha256 },
      async (scope) => {
        runs += 1;
        dryRun?.reset();
        closingSpan?.fail(new TransactionLost());
        closingSpan = undefined;
        const input = runs === 1 ? work : await revalidated(work, receiver);
        const handling = tracer?.startSpan(`handler ${eventType}`);
        const own = ownCopy(preparation.value);
        const completion = await inSpan(handling, runHandler, input, own, scope, receiver);
        closingSpan = tracer?.startSpan(mode === "commit" ? "commit" : "rollback");
        return completion;
      },
      { deadline, mode, observer: dryRun },
    );
    if (ending.kind === "duplicate") {
      closingSpan?.fail(new TransactionLost());
      return duplicateOutcome(ending.record, bodySha256, receiver);
    }
    closingSpan?.end();
    return success(ending.result);
  } catch (error) {
    closingSpan?.fail(error);
    return outcomeOf(error);
  }
}

/** A handler whose transaction the database lost runs again: not on what its earlier run made of the event. */
async function revalidated(work: ValidatedAttempt, receiver: Receiver): Promise<ValidatedAttempt> {
  const event = await validateEvent(work, work.handler, receiver);
  if ("kind" in event) {
    const why = event.kind === "refused" ? event.message : errorText(event.cause);
    throw new Error(`the event is not valid any more: ${why}`);
  }
  return { ...work, event };
}

/** What `prepare` gave belongs to each run by itself. */
function ownCopy(prepared: JsonValue | undefined): JsonValue | undefined {
  return prepared === undefined ? undefined : structuredClone(prepared);
}

async function runHandler(
  work: ValidatedAttempt,
  prepared: JsonValue | undefined,
  scope: OnceScope,
  { clock, log, settings }: Receiver,
): Promise<Completion> {
  const { event, key, version, kind, handler, dryRun } = work;
  const what = `the handler of "${event.event_type}"`;
  const result = await withTimeLimit(settings.handlerTimeoutMs, what, (limit) =>
    handler.handle({
      event,
      source: key.source,
      version,
      get signal() {
        return limit.signal;
      },
      log,
      tx: scope.tx,
      prepared,
      attempt: kind,
      now: clock.now(),
      notify: notifier(scope, dryRun),
    }),
  ).catch((error: unknown) => {
    throw readableError(error);
  });
  const stored = storableResult(result);
  return work.buildLogEntry === undefined
    ? { result: stored }
    : { result: stored, logEntry: work.buildLogEntry(success(stored)) };
}

function notifier(scope: OnceScope, dryRun: DryRun | undefined): HandleContext["notify"] {
  if (dryRun === undefined) return (topic, payload) => scope.enqueue({ topic, payload });
  return async (topic, payload) => {
    await scope.enqueue({ topic, payload });
    dryRun.notified(topic, payload);
  };
}

/** The result as JSON carries it, so that the first answer and the stored one are the same. */
function storableResult(result: unknown): JsonObject {
  if (isJsonObject(result)) {
    try {
      const copy: unknown = JSON.parse(JSON.stringify(result));
      if (isJsonObject(copy)) return copy;
    } catch (cause) {
      throw new ResultInvalid("the handler's result cannot be written as JSON", { cause });
    }
  }
  throw new ResultInvalid("the handler must return a JSON object, such as { order_id }");
}

function outcomeOf(error: unknown): Outcome {
  if (isRejected(error)) return refused("rejected", { message: error.message });
  if (error instanceof HandlerTimedOut) return failed("handler_timed_out", error);
  if (error instanceof ResultInvalid) return failed("result_invalid", error);
  if (error instanceof StoreError) return failed(FAULT_CODES[error.reason], error);
  return failed("handler_failed", error);
}

const FAULT_CODES = {
  unavailable: "store_unavailable",
  in_progress: "event_in_progress",
  commit_failed: "commit_failed",
  commit_unknown: "commit_unknown",
} as const;
