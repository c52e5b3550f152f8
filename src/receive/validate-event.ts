import {
  type CallbackEvent,
  isJsonObject,
  isRefused,
  type JsonObject,
  type Refused,
  refused,
} from "../domain/index.ts";
import { type Handler, validateData } from "../handlers/index.ts";
import type { Receiver } from "./callback.ts";

const DAY_SECONDS = 86_400;

/** The envelope of SPEC 2.1, then `data` through the handler's schema; a refusal names the field. */
export async function validateEvent(
  json: JsonObject,
  eventType: string,
  handler: Handler,
  { clock, rules }: Pick<Receiver, "clock" | "rules">,
): Promise<CallbackEvent<unknown> | Refused> {
  const { event_id, event_type, timestamp, data } = json;
  if (typeof event_type !== "string") return invalid("event_type", "expected a string", event_type);
  if (!Number.isSafeInteger(timestamp)) {
    return invalid("timestamp", "expected an integer, seconds since the Unix epoch", timestamp);
  }
  if (!isJsonObject(data)) return invalid("data", "expected an object", data);
  const age = clock.now().getTime() / 1000 - (timestamp as number);
  if (
    rules.recordRetentionDays !== null &&
    (age > rules.recordRetentionDays * DAY_SECONDS || age < -DAY_SECONDS)
  ) {
    return refused("event_too_old");
  }
  // A schema may hand on what it is given, and a handler may change that: the log still has to say what was sent.
  const own = structuredClone(data);
  const validated = await validateData(handler.data, own, rules.handlerTimeoutMs);
  if (isRefused(validated)) return validated;
  return {
    event_id: event_id as string,
    event_type: eventType,
    timestamp: timestamp as number,
    data: validated.value,
  };
}

function invalid(field: string, expected: string, got: unknown): Refused {
  return refused("event_invalid", {
    message: `${field}: ${got === undefined ? "missing; " : ""}${expected}`,
  });
}
