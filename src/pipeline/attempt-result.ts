import { type AttemptOutcome, failed, isJsonObject, type JsonObject, refused } from "../domain/index.ts";
import { HandlerTimedOut, isRejected } from "../handlers/index.ts";
import { causesOf, OrderKeyLocked, StoreError } from "../store/index.ts";

class ResultInvalid extends Error {
  override readonly name = "ResultInvalid";
}

/** The result as JSON carries it, so that the first response and the stored one are the same. */
export function storableResult(result: unknown): JsonObject {
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

export function outcomeOf(error: unknown): AttemptOutcome {
  if (isRejected(error)) return refused("rejected", { message: error.message });
  if (error instanceof HandlerTimedOut) return failed("handler_timed_out", error);
  if (error instanceof ResultInvalid) return failed("result_invalid", error);
  // The outcome is the same whether this process or another one holds the key.
  if (error instanceof StoreError && causesOf(error).some((one) => one instanceof OrderKeyLocked))
    return failed("handler_busy", error);
  if (error instanceof StoreError) return failed(FAULT_CODES[error.reason], error);
  return failed("handler_failed", error);
}

const FAULT_CODES = {
  unavailable: "store_unavailable",
  in_progress: "event_in_progress",
  commit_failed: "commit_failed",
  commit_unknown: "commit_unknown",
} as const;
