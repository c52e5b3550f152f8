import { inspect } from "node:util";

const CAUSES_TOLD = 4;

/**
 * An error with its stack and the messages of its causes, for the log and the failures list. Anything may be
 * thrown, and be a cause: a row without a prototype, say. None of it may keep a failure from being stored.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error);
  const lines = [typeof error.stack === "string" ? error.stack : textOf(error)];
  let { cause } = error;
  for (let depth = 0; cause !== undefined && depth < CAUSES_TOLD; depth += 1) {
    lines.push(`caused by: ${textOf(cause)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join("\n");
}

function textOf(value: unknown): string {
  try {
    return value instanceof Error
      ? String(value)
      : typeof value === "string"
        ? value
        : inspect(value, { depth: 2 });
  } catch {
    return "something that cannot be shown";
  }
}
