import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  isTypePattern,
  type JsonValue,
  type PathKey,
  PLATFORM,
  parsePath,
  retryFault,
  TYPE_PATTERN_EXPECTED,
  VERSIONS,
} from "../domain/index.ts";
import type { Handler, HandlerDefinition, HandlerOrder } from "./handler.ts";
import { typed, type Unvalidated } from "./typed.ts";

const NAME = /^[a-z][a-z0-9_-]{0,62}$/;
const MAX_CONCURRENCY = 10_000;

type IsValid = (value: unknown) => boolean;

const isName: IsValid = (value) => typeof value === "string" && NAME.test(value);
const isFunction: IsValid = (value) => typeof value === "function";
const isOptional = (isValid: IsValid): IsValid => {
  return (value) => value === undefined || isValid(value);
};
const isSchema: IsValid = (value) =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
const areVersions: IsValid = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => VERSIONS.includes(one));
const isConcurrency: IsValid = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CONCURRENCY;
/** Checked later, by a function with a more specific message. */
const isAny: IsValid = () => true;

/** Each option: whether a value is one, and what was expected. */
const OPTIONS: Readonly<Record<string, readonly [isValid: IsValid, expected: string]>> = {
  source: [isOptional(isName), 'expected the name of a source, such as "billing"'],
  name: [isOptional(isName), 'expected up to 63 lower-case letters, digits, _ or -, such as "audit"'],
  type: [isTypePattern, TYPE_PATTERN_EXPECTED],
  versions: [isOptional(areVersions), `expected a list of ${VERSIONS.join(" and ")}`],
  data: [isOptional(isSchema), "expected a Standard Schema, such as z.object({ … }) of Zod, or typed<YourType>()"],
  retry: [isAny, ""],
  concurrency: [isOptional(isConcurrency), `expected an integer from 1 to ${MAX_CONCURRENCY}`],
  orderBy: [isAny, ""],
  dropStale: [isAny, ""],
  migrations: [isAny, ""],
  prepare: [isOptional(isFunction), "expected a function"],
  handle: [isFunction, "expected a function"],
};
const NAMES = Object.keys(OPTIONS).join(", ");

/**
 * Declares the handler of one event type. `defineHandler<Tables>()({ … })` types `tx.query` by the handler's tables:
 * TypeScript infers the schema's types only in the second call.
 * @throws TypeError that names the option and what it expects
 */
export function defineHandler<Tables extends object>(): <
  Schema extends StandardSchemaV1 = Unvalidated,
  Prepared extends JsonValue | undefined = undefined,
>(
  definition: HandlerDefinition<Schema, Prepared, Tables>,
) => Handler;
export function defineHandler<
  Schema extends StandardSchemaV1 = Unvalidated,
  Prepared extends JsonValue | undefined = undefined,
>(definition: HandlerDefinition<Schema, Prepared>): Handler;
export function defineHandler(...definitions: unknown[]): unknown {
  return definitions.length === 0 ? declare : declare(definitions[0]);
}

function declare(definition: unknown): Handler {
  check(definition);
  const { source = PLATFORM, versions = VERSIONS, data = typed(), migrations = [], ...others } = definition;
  const { orderBy, dropStale, ...rest } = others;
  const order = compileOrder(orderBy, dropStale);
  const declared = { ...rest, source, versions, data, migrations, order };
  // The registry passes a handler only the values that its schema and its `prepare` returned.
  return Object.freeze(declared) as unknown as Handler;
}

function check(definition: unknown): asserts definition is Record<string, unknown> {
  if (typeof definition !== "object" || definition === null)
    throw new TypeError(`defineHandler: expected an object with ${NAMES}`);
  const options = definition as Record<string, unknown>;
  const unknownKey = Object.keys(options).find((key) => !Object.hasOwn(OPTIONS, key));
  if (unknownKey !== undefined) optionError(unknownKey, `no such option; there are ${NAMES}`);
  for (const [option, [isValid, expected]] of Object.entries(OPTIONS)) {
    const value = options[option];
    if (!isValid(value)) optionError(option, `got ${JSON.stringify(value) ?? typeof value}, ${expected}`);
  }
  const { source = PLATFORM, type, retry } = options;
  const fault = retry === undefined ? undefined : retryFault(retry);
  // SPEC 4.1 rule 3: the built-in protocol refuses a type without a handler.
  if (source === PLATFORM && String(type).endsWith("*"))
    optionError("type", `got ${JSON.stringify(type)}, expected one type: the platform's types are named`);
  // SPEC 8.
  if (source === PLATFORM && retry !== undefined)
    optionError("retry", "is for other sources; RETRY_MAX and RETRY_DELAY_SECONDS are the built-in protocol's");
  if (fault !== undefined) optionError("retry", fault);
}

function compileOrder(orderBy: unknown, dropStale: unknown = false): HandlerOrder | undefined {
  if (orderBy === undefined) {
    if (dropStale !== false) optionError("dropStale", "expected `orderBy` beside it: which events belong together");
    return undefined;
  }
  const by = placeOf("orderBy", orderBy);
  if (typeof dropStale === "boolean") return { by, staleBy: dropStale ? "time" : undefined };
  if (typeof dropStale !== "object" || dropStale === null || Object.keys(dropStale).join() !== "sequence") {
    const got = JSON.stringify(dropStale);
    optionError("dropStale", `got ${got}, expected true, false or { sequence: "data.version" }`);
  }
  return { by, staleBy: placeOf("dropStale.sequence", Reflect.get(dropStale, "sequence")) };
}

/** A place in the envelope, written as in a contract. */
function placeOf(option: string, place: unknown): readonly PathKey[] {
  const path = typeof place === "string" ? parsePath(`.${place}`) : undefined;
  if (path === undefined || path.length < 2 || (path[0] !== "data" && path[0] !== "headers"))
    optionError(option, `got ${JSON.stringify(place)}, expected a place in the event, such as "data.order_id"`);
  return path;
}

function optionError(option: string, why: string): never {
  throw new TypeError(`defineHandler: \`${option}\`: ${why}`);
}
