/** What an error says, for an operator; one that wraps several addresses that were tried has only a code. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || String(Reflect.get(error, "code")) : String(error);
}
