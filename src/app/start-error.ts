/** A database or a port with which the service may not, or cannot, run; the message says what to do. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** What an error says, for an operator; one that wraps several addresses that were tried has only a code. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message || String(Reflect.get(error, "code")) : String(error);
}

const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)|^ERR_TLS_CERT/;

/**
 * Why a database could not be reached or opened: the outermost error says what was tried, the innermost what the driver or the
 * system answered.
 */
export function databaseReason(error: unknown): string {
  const root = rootOf(error);
  const reason = root === error ? reasonOf(error) : `${reasonOf(error)} (${reasonOf(root)})`;
  const code = root instanceof Error && "code" in root ? String(root.code) : "";
  if (!UNTRUSTED.test(code)) return reason;
  return `${reason}; sslmode=verify-full wants a certificate for the host's name, from a public authority or from that in sslrootcert`;
}

function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}
