import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  fitsTypePattern,
  getOrMake,
  isInexactNumber,
  type JsonObject,
  keySourceOf,
  OAUTH,
  type PathKey,
  PLATFORM,
  type Refused,
  refused,
  VERSIONS,
  type Version,
  valueAt,
  withoutTenant,
} from "../domain/index.ts";
import type { Handler } from "./handler.ts";
import type { SharedTimeLimit } from "./with-time-limit.ts";

export type Registry = ReturnType<typeof createRegistry>;

/**
 * Finds the handler of a type in a version (SPEC 4.1, 9). An exact type goes before the longest matching pattern.
 * A user's handler replaces the built-in one of the same type and version. Each name has handlers of its own, found in
 * the same way under the source of their keys (`stripe#audit`).
 * @throws TypeError when two of the user's handlers claim the same type and version under one name
 */
export function createRegistry(builtIn: readonly Handler[], configured: readonly Handler[]) {
  const table = new HandlerTable();
  for (const handler of builtIn) for (const version of handler.versions) table.set(handler, version);
  for (const handler of configured) {
    for (const version of handler.versions) {
      const taken = table.get(keySourceOf(handler), version, handler.type);
      if (taken !== undefined && configured.includes(taken)) throw new TypeError(repeatedMessage(handler, version));
      table.set(handler, version);
    }
  }
  const entries = table.entries();
  const handlers: readonly Handler[] = [...new Set(entries.map(({ handler }) => handler))];
  const patterns = entries.filter(({ handler }) => handler.type.endsWith("*"));
  patterns.sort((one, other) => other.handler.type.length - one.handler.type.length);
  /** By source: its handlers that have a name. */
  const named = Map.groupBy(
    handlers.filter(({ name }) => name !== undefined),
    ({ source }) => source,
  );

  /** @param source of a key: `stripe` for the handler without a name, `stripe#audit` for the one of that name */
  function find(source: string, version: Version, type: string): Handler | undefined {
    const handlerSource = source === OAUTH ? PLATFORM : withoutTenant(source);
    const exact = table.get(handlerSource, version, type);
    if (exact !== undefined || patterns.length === 0) return exact;
    return patterns.find(
      (entry) =>
        entry.source === handlerSource && entry.version === version && fitsTypePattern(entry.handler.type, type),
    )?.handler;
  }

  return {
    find,
    /** Whether a source's events may have several handlers. */
    hasNamed: (source: string): boolean => named.size > 0 && named.has(withoutTenant(source)),
    /** Under which sources a type's handlers run: the source itself for the one without a name, then the named ones. */
    keySources: (source: string, version: Version, type: string): readonly string[] =>
      [source, ...new Set(named.get(withoutTenant(source))?.map(({ name }) => keySourceOf({ source, name })))].filter(
        (keySource) => find(keySource, version, type) !== undefined,
      ),
    /** The pattern by which a source's handler takes a type, if any. @param source a name, or of a key */
    patternOf: (source: string, type: string): string | undefined =>
      patterns.find(({ handler }) => handler.source === withoutTenant(source) && fitsTypePattern(handler.type, type))
        ?.handler.type,
    /** Every type and pattern that has a handler in some version; the only values a metric label may take. */
    types: [...new Set(handlers.map((handler) => handler.type))],
    handlers,
  };
}

/** Handlers by source, version and type. Every event asks it, so that it makes no text of the three. */
class HandlerTable {
  /** By the source of a key: `stripe`, or `stripe#audit`. */
  readonly #sources = new Map<string, Readonly<Record<Version, Map<string, Handler>>>>();

  get(source: string, version: Version, type: string): Handler | undefined {
    return this.#sources.get(source)?.[version].get(type);
  }

  set(handler: Handler, version: Version): void {
    const versions = getOrMake(this.#sources, keySourceOf(handler), () => ({ v1: new Map(), v2: new Map() }));
    versions[version].set(handler.type, handler);
  }

  entries() {
    return [...this.#sources].flatMap(([source, versions]) =>
      VERSIONS.flatMap((version) => [...versions[version].values()].map((handler) => ({ source, version, handler }))),
    );
  }
}

function repeatedMessage({ source, name, type }: Handler, version: Version): string {
  const what = source === PLATFORM ? "" : ` of the source ${source}`;
  const named = name === undefined ? "" : ` under the name ${name}`;
  return (
    `two handlers are configured for "${type}"${what} in ${version}${named}; keep one of them, or give one a \`name\` of ` +
    "its own to run both"
  );
}

const MAX_ISSUES = 3;

/**
 * Validates `data` by the handler's schema; a refusal names the fields. A promise only for an asynchronous schema.
 * @throws HandlerTimedOut when an asynchronous schema does not come to an end
 */
export function validateData(
  schema: StandardSchemaV1,
  data: JsonObject,
  limit: SharedTimeLimit,
): ValidatedData | Promise<ValidatedData> {
  const result = schema["~standard"].validate(data);
  return result instanceof Promise
    ? limit.run("the schema of `data`", () => result).then((ended) => validatedData(ended, data))
    : validatedData(result, data);
}

type ValidatedData = { readonly value: unknown } | Refused;

function validatedData(result: StandardSchemaV1.Result<unknown>, data: JsonObject): ValidatedData {
  if (result.issues === undefined) return { value: result.value };
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
    const value = valueAt(data, keys as PathKey[]);
    return { text: `${["data", ...keys.map(String)].join(".")}: ${message}`, value };
  });
  const message = issues.map(({ text }) => text).join("; ") || "data is not valid";
  const numbers = issues.map(({ value }) => value).filter((value) => isInexactNumber(value));
  return refused(
    "event_invalid",
    numbers.length === 0 ? { message } : { message, detail: longNumbers(message, numbers) },
  );
}

/** A number whose digits a JavaScript number does not hold reaches the schema as a string of them. */
function longNumbers(message: string, numbers: readonly string[]): string {
  return (
    `${message}. The body has numbers with more digits than a JavaScript number holds (${numbers.join(", ")}), which reach ` +
    "the schema as strings of their digits: where it takes numbers only, let it take strings as well, such as " +
    "z.union([z.number(), z.string()]), and replay the event"
  );
}
