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
import { type Completion, type OnceScope, StoreFault } from "../store/index.ts";
import { inPhase, type Phase } from "../trace/index.ts";
import type { Receiver } from "./callback.ts";
import { errorText } from "./error-text.ts";
import { handledBefore } from "./handled-before.ts";
import { prepareOnce } from "./prepare-once.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { validateEvent } from "./validate-event.ts";
import type { AttemptWork } from "./work.ts";

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
export async function attempt(work: AttemptWork, receiver: Receiver): Promise<Outcome> {
  const { key, eventType, version, bodySha256, deadline, mode, rehearsal } = work;
  const { tracer } = receiver;
  let closing: Phase | undefined;
  try {
    const preparation = await prepareOnce(work, receiver);
    if (preparation.state === "ended") return preparation.outcome;
    let runs = 0;
    const ending = await receiver.store.once(
      { ...key, eventType, version, bodySha256 },
      async (scope) => {
        runs += 1;
        rehearsal?.begin();
        closing?.fail(new TransactionLost());
        closing = undefined;
        const given = runs === 1 ? work : await anew(work, receiver);
        const handling = tracer?.begin(`handler ${eventType}`);
        const own = ownCopy(preparation.value);
        const completion = await inPhase(handling, runHandler, given, own, scope, receiver);
        closing = tracer?.begin(mode === "commit" ? "commit" : "rollback");
        return completion;
      },
      { deadline, mode, watch: rehearsal },
    );
    if (ending.ending === "already") {
      closing?.fail(new TransactionLost());
      return handledBefore(ending.record, bodySha256, receiver);
    }
    closing?.end();
    return success(ending.result);
  } catch (error) {
    closing?.fail(error);
    return outcomeOf(error);
  }
}

/** A handler whose transaction the database lost runs again: not on what its earlier run made of the event. */
async function anew(work: AttemptWork, receiver: Receiver): Promise<AttemptWork> {
  const event = await validateEvent(work, work.handler, receiver);
  if ("ending" in event) {
    const why = event.ending === "refused" ? event.message : errorText(event.cause);
    throw new Error(`the event is not valid any more: ${why}`);
  }
  return { ...work, event };
}

/** What `prepare` gave belongs to each run by itself. */
function ownCopy(prepared: JsonValue | undefined): JsonValue | undefined {
  return prepared === undefined ? undefined : structuredClone(prepared);
}

async function runHandler(
  work: AttemptWork,
  prepared: JsonValue | undefined,
  scope: OnceScope,
  { clock, log, rules }: Receiver,
): Promise<Completion> {
  const { event, key, version, kind, handler, rehearsal } = work;
  const what = `the handler of "${event.event_type}"`;
  const result = await withTimeLimit(rules.handlerTimeoutMs, what, (limit) =>
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
      notify: notifier(scope, rehearsal),
    }),
  ).catch((error: unknown) => {
    throw readableError(error);
  });
  const stored = storable(result);
  return work.rowOf === undefined
    ? { result: stored }
    : { result: stored, logRow: work.rowOf(success(stored)) };
}

function notifier(scope: OnceScope, rehearsal: Rehearsal | undefined): HandleContext["notify"] {
  if (rehearsal === undefined) return (topic, payload) => scope.enqueue({ topic, payload });
  return async (topic, payload) => {
    await scope.enqueue({ topic, payload });
    rehearsal.notified(topic, payload);
  };
}

/** The result as JSON carries it, so that the first answer and the stored one are the same. */
function storable(result: unknown): JsonObject {
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
  if (error instanceof StoreFault) return failed(FAULT_OF[error.reason], error);
  return failed("handler_failed", error);
}

const FAULT_OF = {
  unavailable: "store_unavailable",
  in_progress: "event_in_progress",
  commit_failed: "commit_failed",
  commit_unknown: "commit_unknown",
} as const;
