const CAUSES_TOLD = 4;

/** An error with its stack and the messages of its causes, for the log and the failures list. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = [error.stack ?? String(error)];
  let { cause } = error;
  for (let depth = 0; cause !== undefined && depth < CAUSES_TOLD; depth += 1) {
    lines.push(`caused by: ${String(cause)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join("\n");
}
