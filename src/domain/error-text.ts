import { inspect } from "node:util";

const CAUSES_TOLD = 4;
const UNREADABLE = "something that cannot be shown";
/** What is read of an error between a handler and the failures list. */
const READ = ["name", "message", "stack", "code", "errcode", "errors", "cause"];

/**
 * An error with its stack and the messages of its causes, for the log and the failures list. Anything may be
 * thrown, and be a cause: a row without a prototype, a proxy. None of it may keep a failure from being stored.
 */
export function errorText(error: unknown): string {
  const stack = partOf(error, "stack");
  const lines = [isError(error) && typeof stack === "string" ? stack : textOf(error)];
  let cause = isError(error) ? partOf(error, "cause") : undefined;
  for (let depth = 0; cause !== undefined && depth < CAUSES_TOLD; depth += 1) {
    lines.push(`caused by: ${textOf(cause)}`);
    cause = isError(cause) ? partOf(cause, "cause") : undefined;
  }
  return lines.join("\n");
}

/**
 * What a handler threw, as it is where everything that is read of it can be read. Otherwise an error in its place: a
 * getter that throws would end the work of whatever reads it, far from the handler.
 */
export function readableError(thrown: unknown): unknown {
  let current = thrown;
  try {
    for (let depth = 0; depth <= CAUSES_TOLD && isObject(current); depth += 1) {
      for (const part of READ) Reflect.get(current, part);
      if (Array.isArray(Reflect.get(current, "errors"))) String(Reflect.get(current, "errors"));
      if (current instanceof Error && typeof current.message !== "string") throw new TypeError("message");
      String(current);
      current = Reflect.get(current, "cause");
    }
    return thrown;
  } catch {
    return new Error(`the handler threw an error that cannot be read: ${errorText(thrown)}`);
  }
}

function partOf(error: unknown, part: string): unknown {
  if (!isObject(error)) return undefined;
  try {
    return Reflect.get(error, part);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return isError(value) ? String(value) : inspect(value, { depth: 2 });
  } catch {
    const message = partOf(value, "message");
    return typeof message === "string" ? message : UNREADABLE;
  }
}
