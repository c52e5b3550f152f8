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

const NAME = /^[a-z][a-z0-9_-]{0,62}$/;
const KEYS = [
  "source",
  "name",
  "type",
  "versions",
  "data",
  "retry",
  "concurrency",
  "orderBy",
  "dropStale",
  "migrations",
  "prepare",
  "handle",
];

/** What `defineHandler<Tables>()` returns. */
export type DefineHandler<Tables> = <
  Schema extends StandardSchemaV1,
  Prepared extends JsonValue | undefined = undefined,
>(
  definition: HandlerDefinition<Schema, Prepared, Tables>,
) => Handler;

/**
 * Declares the handler of one event type. `defineHandler<Tables>()({ … })` types `tx.query` by the handler's tables:
 * TypeScript infers the schema's types in the second call alone.
 * @throws TypeError that names the option and what it expects
 */
export function defineHandler<Tables extends object>(): DefineHandler<Tables>;
export function defineHandler<
  Schema extends StandardSchemaV1,
  Prepared extends JsonValue | undefined = undefined,
>(definition: HandlerDefinition<Schema, Prepared>): Handler;
export function defineHandler(...given: unknown[]): unknown {
  return given.length === 0 ? declare : declare(given[0]);
}

function declare(definition: unknown): Handler {
  check(definition);
  const { source = PLATFORM, versions = VERSIONS, migrations = [] } = definition;
  const { name, type, retry, concurrency, data, prepare, handle } = definition;
  const order = compileOrder(definition);
  const declared = {
    source,
    name,
    type,
    versions,
    migrations,
    retry,
    concurrency,
    order,
    data,
    prepare,
    handle,
  };
  // The registry only ever passes a handler what its own schema and its own `prepare` returned.
  return Object.freeze(declared) as unknown as Handler;
}

function check(definition: unknown): asserts definition is Record<string, unknown> {
  if (typeof definition !== "object" || definition === null) {
    throw new TypeError(`defineHandler: expected an object with ${KEYS.join(", ")}`);
  }
  const {
    source = PLATFORM,
    name,
    type,
    versions = VERSIONS,
    data,
    prepare,
    handle,
  } = definition as Record<string, unknown>;
  const unknownKey = Object.keys(definition).find((key) => !KEYS.includes(key));
  if (unknownKey !== undefined) optionError(unknownKey, `no such option; there are ${KEYS.join(", ")}`);
  if (typeof source !== "string" || !NAME.test(source)) {
    optionError("source", `got ${JSON.stringify(source)}, expected the name of a source, such as "billing"`);
  }
  if (name !== undefined && (typeof name !== "string" || !NAME.test(name))) {
    const expected = 'expected up to 63 lower-case letters, digits, _ or -, such as "audit"';
    optionError("name", `got ${JSON.stringify(name)}, ${expected}`);
  }
  if (!isTypePattern(type)) optionError("type", `got ${JSON.stringify(type)}, ${TYPE_PATTERN_EXPECTED}`);
  // SPEC 4.1 rule 3: a type of the platform without a handler of its own is refused.
  if (source === PLATFORM && type.endsWith("*"))
    optionError("type", `got ${JSON.stringify(type)}, expected one type: the platform's types are named`);

  const served: unknown[] = Array.isArray(versions) ? versions : [];
  if (served.length === 0 || served.some((version) => !(VERSIONS as readonly unknown[]).includes(version))) {
    optionError("versions", `got ${JSON.stringify(versions)}, expected a list of ${VERSIONS.join(" and ")}`);
  }
  if ((typeof data !== "object" && typeof data !== "function") || data === null || !("~standard" in data)) {
    optionError("data", "expected a Standard Schema, such as z.object({ … }) of Zod");
  }
  checkRetry(source, (definition as Record<string, unknown>).retry);
  checkConcurrency(definition as Record<string, unknown>);
  if (prepare !== undefined && typeof prepare !== "function") optionError("prepare", "expected a function");
  if (typeof handle !== "function") optionError("handle", "expected a function");
}

function checkRetry(source: string, retry: unknown): void {
  if (retry === undefined) return;
  // SPEC 8.
  if (source === PLATFORM)
    optionError(
      "retry",
      "is for other sources; RETRY_MAX and RETRY_DELAY_SECONDS are the built-in protocol's",
    );
  const fault = retryFault(retry);
  if (fault !== undefined) optionError("retry", fault);
}

const MAX_CONCURRENCY = 10_000;

function checkConcurrency({ concurrency }: Record<string, unknown>): void {
  if (concurrency === undefined) return;
  const isValid = Number.isInteger(concurrency) && Number(concurrency) >= 1;
  if (!isValid || Number(concurrency) > MAX_CONCURRENCY) {
    const expected = `expected an integer from 1 to ${MAX_CONCURRENCY}`;
    optionError("concurrency", `got ${JSON.stringify(concurrency)}, ${expected}`);
  }
}

function compileOrder({ orderBy, dropStale = false }: Record<string, unknown>): HandlerOrder | undefined {
  if (orderBy === undefined) {
    if (dropStale !== false)
      optionError("dropStale", "expected `orderBy` beside it: which events belong together");
    return undefined;
  }
  const by = placeOf("orderBy", orderBy);
  if (typeof dropStale === "boolean") return { by, staleBy: dropStale ? "time" : undefined };
  if (typeof dropStale !== "object" || dropStale === null || Object.keys(dropStale).join() !== "sequence") {
    const got = JSON.stringify(dropStale);
    optionError("dropStale", `got ${got}, expected true, false or { sequence: "data.version" }`);
  }
  return { by, staleBy: placeOf("dropStale.sequence", (dropStale as Record<string, unknown>).sequence) };
}

/** A place in the envelope, in the words of a contract's places. */
function placeOf(option: string, place: unknown): readonly PathKey[] {
  const path = typeof place === "string" ? parsePath(`.${place}`) : undefined;
  if (path === undefined || path.length < 2 || (path[0] !== "data" && path[0] !== "headers"))
    optionError(
      option,
      `got ${JSON.stringify(place)}, expected a place in the event, such as "data.order_id"`,
    );
  return path;
}

function optionError(option: string, why: string): never {
  throw new TypeError(`defineHandler: \`${option}\`: ${why}`);
}
