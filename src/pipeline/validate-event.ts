import {
  type CallbackEvent,
  copyJson,
  type Failed,
  isJsonObject,
  isRefused,
  type JsonObject,
  PLATFORM,
  type Refused,
  refused,
  sourceOf,
} from "../domain/index.ts";
import { type Handler, validateData } from "../handlers/index.ts";
import { inexactNumbers, withShortNumbers } from "../sources/index.ts";
import type { AttemptInput, Receiver } from "./receiver.ts";

const NUMBERS_SHOWN = 3;

/** `data` is valid but for the digits of numbers, which the handler's schema takes as JavaScript numbers alone. */
function numberTooLong(numbers: readonly string[], { message }: Refused): Refused {
  const fields = message.split("; ").map((sentence) => sentence.split(": ", 1)[0]);
  const detail =
    `${fields.join(", ")}: numbers with more digits than a JavaScript number holds ` +
    `(${numbers.slice(0, NUMBERS_SHOWN).join(", ")}) reach the schema as strings of their digits, and it takes numbers ` +
    "alone; let it take strings as well, such as z.union([z.number(), z.string()]), and replay the event";
  return refused("event_invalid", { message, detail });
}

const DAY_SECONDS = 86_400;

type Validated = CallbackEvent<unknown> | Refused | Failed;

/**
 * The envelope of SPEC 2.1, then `data` through the handler's schema; a refusal names the field. A promise where the
 * schema is asynchronous, or refuses numbers that it may have wanted in digits.
 */
export function validateEvent(
  { key, content, eventType, keptAt }: Pick<AttemptInput, "key" | "content" | "eventType" | "keptAt">,
  handler: Handler,
  { clock, settings, sourcesByName }: Pick<Receiver, "clock" | "settings" | "sourcesByName">,
): Validated | Promise<Validated> {
  const { event_id, event_type, timestamp, data, headers } = content.json;
  if (typeof event_type !== "string") return invalid("event_type", "expected a string", event_type);
  if (!Number.isSafeInteger(timestamp)) {
    return invalid("timestamp", "expected an integer, seconds since the Unix epoch", timestamp);
  }
  if (!isJsonObject(data)) return invalid("data", "expected an object", data);
  const { recordRetentionDays } = settings;
  // An event that was kept in time may be retried for longer: a record of it would have removed its failure.
  const age = (keptAt ?? clock.now()).getTime() / 1000 - (timestamp as number);
  // Records of the other sources stay.
  const isRecordDeleted =
    recordRetentionDays !== null && sourcesByName.get(sourceOf(key))?.contract.hasSignedTime;
  if (isRecordDeleted && (age > recordRetentionDays * DAY_SECONDS || age < -DAY_SECONDS)) {
    return refused("event_too_old");
  }
  // A schema may hand on what it is given, and a handler may change that: the log still has to say what was sent.
  const own = copyJson(data);
  const finish = (validated: { readonly value: unknown } | Refused): Validated | Promise<Validated> => {
    if (isRefused(validated)) {
      const numbers = inexactNumbers(content.body);
      if (numbers.length === 0) return validated;
      const validate = (data: JsonObject) => validateData(handler.data, data, settings.handlerTimeoutMs);
      return tryShortNumbers(numbers, validated, content.body, validate);
    }
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
  const validated = validateData(handler.data, own, settings.handlerTimeoutMs);
  return validated instanceof Promise ? validated.then(finish) : finish(validated);
}

/**
 * Says of an event that would be valid with shorter numbers what its schema should take. `z.int()` refuses rounded numbers
 * too, so smaller ones are tried. A schema that takes digits as a string has seen them.
 */
async function tryShortNumbers(
  numbers: readonly string[],
  refusal: Refused,
  body: Uint8Array,
  validate: (data: JsonObject) => ReturnType<typeof validateData>,
): Promise<Refused> {
  async function takes(spelled: (number: string) => string): Promise<boolean> {
    for (const text of withShortNumbers(body, spelled)) {
      const { data }: JsonObject = JSON.parse(text);
      if (!isRefused(await validate(data as JsonObject))) return true;
    }
    return false;
  }
  const takesNumbersAlone = (await takes((number) => number)) && !(await takes((number) => `"${number}"`));
  return takesNumbersAlone ? numberTooLong(numbers, refusal) : refusal;
}

function invalid(field: string, expected: string, got: unknown): Refused {
  return refused("event_invalid", {
    message: `${field}: ${got === undefined ? "missing; " : ""}${expected}`,
  });
}
