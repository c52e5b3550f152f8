import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  type JsonObject,
  OAUTH,
  PLATFORM,
  type Refused,
  refused,
  sourceName,
  type Version,
} from "../domain/index.ts";
import type { Handler } from "./handler.ts";
import { withTimeLimit } from "./with-time-limit.ts";

export type Registry = ReturnType<typeof createRegistry>;

/**
 * Finds the handler of a source's type in a version (SPEC 4.1, 9): that of the type itself, else of the longest pattern
 * that fits. A user's handler takes the place of the built-in one of the same type and version.
 * @throws TypeError when two of the user's handlers claim the same type and version
 */
export function createRegistry(builtIn: readonly Handler[], own: readonly Handler[]) {
  const ofUser = new Map<string, Handler>();
  for (const handler of own) {
    for (const version of handler.versions) {
      const name = nameOf(handler.source, version, handler.type);
      if (ofUser.has(name)) {
        const what = handler.source === PLATFORM ? "" : ` of the source ${handler.source}`;
        throw new TypeError(
          `two handlers are configured for "${handler.type}"${what} in ${version}; keep one of them`,
        );
      }
      ofUser.set(name, handler);
    }
  }
  const ofUs = builtIn.flatMap((handler) =>
    handler.versions.map((version) => [nameOf(handler.source, version, handler.type), handler] as const),
  );
  const byName = new Map<string, Handler>([...ofUs, ...ofUser]);
  const handlers: readonly Handler[] = [...new Set(byName.values())];
  const patterns = [...byName].filter(([, { type }]) => type.endsWith("*"));
  patterns.sort(([, one], [, other]) => other.type.length - one.type.length);
  const matching = (source: string, version: Version, type: string) =>
    patterns.find(
      ([name, handler]) =>
        type.startsWith(handler.type.slice(0, -1)) && name === nameOf(source, version, handler.type),
    )?.[1];
  return {
    find(source: string, version: Version, type: string): Handler | undefined {
      const configured = sourceName(source);
      const name = nameOf(configured === OAUTH ? PLATFORM : configured, version, type);
      return byName.get(name) ?? (patterns.length === 0 ? undefined : matching(configured, version, type));
    },
    /** Every type and pattern that has a handler in some version; the only values a metric label may take. */
    types: [...new Set(handlers.map((handler) => handler.type))],
    handlers,
  };
}

function nameOf(source: string, version: Version, type: string): string {
  return `${source} ${version} ${type}`;
}

const MAX_ISSUES = 3;

/**
 * `data` through the handler's own schema; a refusal names the fields. A promise for an asynchronous schema alone.
 * @throws HandlerTimedOut when an asynchronous schema does not come to an end
 */
export function validateData(
  schema: StandardSchemaV1,
  data: JsonObject,
  timeLimitMs: number,
): ValidatedData | Promise<ValidatedData> {
  const result = schema["~standard"].validate(data);
  return result instanceof Promise
    ? withTimeLimit(timeLimitMs, "the schema of `data`", () => result).then(validatedData)
    : validatedData(result);
}

type ValidatedData = { readonly value: unknown } | Refused;

function validatedData(result: StandardSchemaV1.Result<unknown>): ValidatedData {
  if (result.issues === undefined) return { value: result.value };
  const told = result.issues.slice(0, MAX_ISSUES).map(sentence).join("; ");
  return refused("event_invalid", { message: told === "" ? "data is not valid" : told });
}

function sentence({ path = [], message }: StandardSchemaV1.Issue): string {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return `${["data", ...keys].join(".")}: ${message}`;
}
