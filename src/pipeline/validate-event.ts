import {
  type CallbackEvent,
  copyJson,
  type Failed,
  isJsonObject,
  isRefused,
  PLATFORM,
  type Refused,
  refused,
  sourceOf,
} from "../domain/index.ts";
import { type Handler, validateData } from "../handlers/index.ts";
import type { AttemptInput, Receiver } from "./receiver.ts";

const DAY_SECONDS = 86_400;

type Validated = CallbackEvent<unknown> | Refused | Failed;
export type Validation = Validated | Promise<Validated>;

/** The envelope of SPEC 2.1, then `data` by the handler's schema, which may be asynchronous. A refusal names the field. */
export function validateEvent(
  { key, content, eventType, keptAt }: Pick<AttemptInput, "key" | "content" | "eventType" | "keptAt">,
  handler: Handler,
  { clock, settings, sourcesByName, handlerLimit }: Receiver,
): Validation {
  const { event_id, event_type, timestamp, data, headers } = content.json;
  if (typeof event_type !== "string") return invalid("event_type", "expected a string", event_type);
  if (!Number.isSafeInteger(timestamp)) {
    return invalid("timestamp", "expected an integer, seconds since the Unix epoch", timestamp);
  }
  if (!isJsonObject(data)) return invalid("data", "expected an object", data);
  const { recordRetentionDays } = settings;
  // An event that was kept in time may be retried for longer. A record of it would have removed its failure.
  const age = (keptAt ?? clock.now()).getTime() / 1000 - (timestamp as number);
  // Records of the other sources stay.
  const isRecordDeleted = recordRetentionDays !== null && sourcesByName.get(sourceOf(key))?.contract.hasSignedTime;
  if (isRecordDeleted && (age > recordRetentionDays * DAY_SECONDS || age < -DAY_SECONDS)) {
    return refused("event_too_old");
  }
  // A schema may hand on its input, which a handler may change. The log still has to say what was sent.
  const copy = copyJson(data);
  const finish = (validated: { readonly value: unknown } | Refused): Validated => {
    if (isRefused(validated)) return validated;
    const event = {
      event_id: event_id as string,
      event_type: eventType,
      timestamp: timestamp as number,
      data: validated.value,
    };
    // In the body of the specification's platform, `headers` is an ordinary field.
    if (sourceOf(key) === PLATFORM || !isJsonObject(headers)) return event;
    return { ...event, headers: headers as Record<string, string> };
  };
  const validated = validateData(handler.data, copy, handlerLimit);
  return validated instanceof Promise ? validated.then(finish) : finish(validated);
}

function invalid(field: string, expected: string, got: unknown): Refused {
  const message = `${field}: ${got === undefined ? "missing; " : ""}${expected}`;
  return refused("event_invalid", { message });
}
