import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isTypePattern, type JsonValue, PLATFORM, TYPE_PATTERN_EXPECTED, VERSIONS } from "../domain/index.ts";
import type { Handler, HandlerDefinition } from "./handler.ts";

const NAME = /^[a-z][a-z0-9_-]{0,62}$/;
const KEYS = ["source", "name", "type", "versions", "data", "migrations", "prepare", "handle"];

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
  const { name, type, data, prepare, handle } = definition;
  // The registry only ever passes a handler what its own schema and its own `prepare` returned.
  return Object.freeze({
    source,
    name,
    type,
    versions,
    migrations,
    data,
    prepare,
    handle,
  }) as unknown as Handler;
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
  if (prepare !== undefined && typeof prepare !== "function") optionError("prepare", "expected a function");
  if (typeof handle !== "function") optionError("handle", "expected a function");
}

function optionError(option: string, why: string): never {
  throw new TypeError(`defineHandler: \`${option}\`: ${why}`);
}
