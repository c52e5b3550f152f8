import { errorReason, rootCause } from "../domain/index.ts";

/** A database or a port with which the service may not, or cannot, run; the message says what to do. */
export class StartError extends Error {
  override readonly name = "StartError";
}

const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)|^ERR_TLS_CERT/;

/**
 * The reason why a database could not be reached or opened. The outermost error names the attempt, the innermost the
 * answer of the driver or the system.
 */
export function databaseReason(error: unknown): string {
  const root = rootCause(error);
  const reason = root === error ? errorReason(error) : `${errorReason(error)} (${errorReason(root)})`;
  const code = root instanceof Error && "code" in root ? String(root.code) : "";
  if (!UNTRUSTED.test(code)) return reason;
  return `${reason}; sslmode=verify-full wants a certificate for the host's name, from a public authority or from that in sslrootcert`;
}
