import { inspect } from "node:util";
import { errorProperty } from "../domain/index.ts";

const MAX_CAUSES = 4;
const UNREADABLE = "something that cannot be shown";

/**
 * An error with its stack and the messages of its causes, for the log and the failures list. Anything may be
 * thrown, and be a cause: a row without a prototype, a proxy. None of it may keep a failure from being stored.
 */
export function errorText(error: unknown): string {
  if (!isError(error)) return valueText(error);
  const stack = errorProperty(error, "stack");
  const lines = [typeof stack === "string" ? stack : valueText(error)];
  let cause = errorProperty(error, "cause");
  for (let depth = 0; cause !== undefined && depth < MAX_CAUSES; depth += 1) {
    lines.push(`caused by: ${valueText(cause)}`);
    cause = isError(cause) ? errorProperty(cause, "cause") : undefined;
  }
  return lines.join("\n");
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return isError(value) ? String(value) : inspect(value, { depth: 2 });
  } catch {
    const message = errorProperty(value, "message");
    return typeof message === "string" ? message : UNREADABLE;
  }
}
