import type { IncomingMessage } from "node:http";

const NO_RECEIVER = "is --from the CALLBACK_BASE_URL of an Oncehook receiver, with its path?";

export function notAReceiver({ origin, pathname }: URL): Disconnected {
  const words = `${origin}${pathname} answered something else than callbacks: ${NO_RECEIVER}`;
  return new Disconnected(words, "after_success");
}

export function statusError({ statusCode = 0, headers }: IncomingMessage, url: URL): Disconnected {
  const who = `${url.origin} answered ${statusCode}`;
  if (statusCode === 429 || statusCode >= 500) {
    const asked = Number(headers["retry-after"] ?? 0);
    const seconds = Number.isFinite(asked) ? asked : 0;
    const wait = seconds > 0 ? `, and asks to be left alone for ${seconds} s` : "";
    return new Disconnected(`${who}${wait}`, "always", seconds * 1_000);
  }
  if (statusCode >= 300 && statusCode < 400) {
    const words = `it redirects to ${headers.location ?? "nowhere"}. Give the final address with --from`;
    return new Disconnected(`${who}: ${words}`, "after_success");
  }
  const { message, passes = "after_success" } = STATUS_MESSAGES[statusCode] ?? {
    message: `unexpected response; ${NO_RECEIVER}`,
  };
  return new Disconnected(`${who}: ${message}`, passes);
}

const STATUS_MESSAGES: Readonly<Record<number, { readonly message: string; readonly passes?: RetryWhen }>> = {
  400: { message: "it does not know this place; take the --state file away, or --since", passes: "never" },
  401: {
    message:
      "ADMIN_TOKEN here is another than the receiver's. Set it to the receiver's, in the environment or with --env",
    passes: "never",
  },
  403: { message: "it wants https, or its IP_ALLOW_LIST does not name this machine's address" },
  404: {
    message: `capture is off there: start that receiver with CAPTURE=on, which production refuses; or ${NO_RECEIVER}`,
  },
};

const TLS_CODES =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|ERR_OSSL)/;

/** Whether the two sides could not agree on TLS, or this one does not believe the other's certificate. */
export function isTlsError(error: unknown): boolean {
  return TLS_CODES.test(errorCode(error));
}

export function tlsAdvice(origin: string, error: unknown): string {
  return (
    `${origin}: TLS failed (${errorCode(error)}). Where its certificate is of an authority of your own, start this command ` +
    "with NODE_EXTRA_CA_CERTS=<its PEM file>; where it speaks plain HTTP, write http:// there"
  );
}

export function connectionError(error: unknown, url: URL): Disconnected {
  return new Disconnected(connectionErrorMessage(error, url), "after_success");
}

function connectionErrorMessage(error: unknown, { origin, hostname }: URL): string {
  if (isTlsError(error)) return tlsAdvice(origin, error);
  if (errorCode(error) === "ENOTFOUND")
    return `${origin}: there is no host ${hostname}. Check --from, and this machine's network`;
  if (errorCode(error) === "ECONNREFUSED")
    return `${origin} takes no connection. Does the receiver run there?`;
  return `${origin} cannot be reached, or broke off: ${errorCode(error)}`;
}

/** The system's word for an error, or the error's own text. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.message;
}

/**
 * Whether another try may end better: by itself in time (`always`), where it did before and something went wrong since then
 * (`after_success`), or only after the user has changed something (`never`).
 */
type RetryWhen = "always" | "after_success" | "never";

/** The connection ended, or could not be made. The message says what to do. */
export class Disconnected extends Error {
  override readonly name = "Disconnected";
  readonly retryWhen: RetryWhen;
  /** How long the receiver asked not to be called, where it did. */
  readonly retryAfterMs: number;

  constructor(message: string, passes: RetryWhen, retryAfterMs = 0) {
    super(message);
    this.retryWhen = passes;
    this.retryAfterMs = retryAfterMs;
  }
}
