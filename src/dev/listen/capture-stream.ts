import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { z } from "zod";
import { parseJson } from "../../domain/index.ts";

/** The receiver sends a line at least every five seconds. */
const IDLE_TIMEOUT_MS = 15_000;
const LINE_FEED = 10;
/** The longest body that a receiver takes, as base64, and its headers. */
const MAX_LINE_BYTES = 96 * 1024 * 1024;

export async function* captureLines(url: URL, token: string, signal: AbortSignal) {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const headers = { authorization: `Bearer ${token}`, accept: "application/x-ndjson" };
  const asked = send(url, { headers, agent: false, signal }).end();
  let response: IncomingMessage | undefined;
  try {
    const answered = Promise.withResolvers<IncomingMessage>();
    asked.once("response", answered.resolve).on("error", answered.reject);
    response = await withIdleTimeout(answered.promise, asked);
    if (response.statusCode !== 200) throw statusError(response, url);
    if (!/^application\/x-ndjson\b/.test(response.headers["content-type"] ?? "")) throw notAReceiver(url);
    for await (const text of textLines(response)) {
      const line = LINE.safeParse(parseJson(text));
      if (!line.success) throw notAReceiver(url);
      yield line.data;
    }
    throw new Disconnected("the receiver ended the connection", "after_success");
  } catch (error) {
    if (error instanceof Disconnected) throw error;
    throw new Disconnected(connectionErrorMessage(error, url), "after_success");
  } finally {
    // The peer may have closed already; later errors are ignored.
    asked.on("error", () => {}).destroy();
    response?.on("error", () => {});
  }
}

async function* textLines(response: IncomingMessage): AsyncGenerator<string> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let partial: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    // The timeout runs only while reading: a long delivery leaves the connection unread.
    const { value, done } = await withIdleTimeout(chunks.next(), response);
    if (done === true) return;
    let rest = value;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      yield Buffer.concat([...partial, rest.subarray(0, end)]).toString();
      rest = rest.subarray(end + 1);
      partial = [];
      bytes = 0;
    }
    partial.push(rest);
    bytes += rest.length;
    if (bytes > MAX_LINE_BYTES) throw new Disconnected("the receiver sends a line that does not end", "never");
  }
}

async function withIdleTimeout<T>(coming: Promise<T>, connection: { destroy(error: Error): unknown }): Promise<T> {
  const words = `the receiver has said nothing for ${IDLE_TIMEOUT_MS / 1_000} s`;
  const silence = new Disconnected(words, "after_success");
  const timer = setTimeout(() => connection.destroy(silence), IDLE_TIMEOUT_MS);
  try {
    return await coming;
  } finally {
    clearTimeout(timer);
  }
}

/** The position after this line; only the receiver reads it. */
const POSITION = z.string();
const LINE = z.union([
  z.discriminatedUnion("line", [
    /** The first line: from where on requests follow. */
    z.object({ line: z.literal("hello"), at: POSITION, database: z.enum(["same", "another", "older"]) }),
    z.object({
      line: z.literal("request"),
      at: POSITION,
      received_at: z.string(),
      method: z.string(),
      /** The request target as it was sent. */
      url: z.string(),
      /** Names and values in turn, as they were sent. */
      headers: z.array(z.string()).readonly(),
      /** The body's bytes as base64. */
      body: z.string(),
    }),
    /** A kept request was encrypted with a key that is not configured any more. */
    z.object({ line: z.literal("unreadable"), at: POSITION }),
    /** `swept`: requests after the reader's position were deleted before it read them. */
    z.object({ line: z.enum(["swept", "heartbeat"]) }),
  ]),
  // A newer receiver may say more.
  z.object({ line: z.string() }).transform(() => ({ line: "unknown" as const })),
]);

export type CaptureLine = z.infer<typeof LINE>;
export type CapturedRequest = Extract<CaptureLine, { readonly line: "request" }>;

const NO_RECEIVER = "is --from the CALLBACK_BASE_URL of an Oncehook receiver, with its path?";

function notAReceiver({ origin, pathname }: URL): Disconnected {
  const words = `${origin}${pathname} answered something else than callbacks: ${NO_RECEIVER}`;
  return new Disconnected(words, "after_success");
}

function statusError({ statusCode = 0, headers }: IncomingMessage, url: URL): Disconnected {
  const who = `${url.origin} answered ${statusCode}`;
  if (statusCode === 429 || statusCode >= 500) {
    const seconds = Number(headers["retry-after"]) || 0;
    const wait = seconds > 0 ? `, and asks for a pause of ${seconds} s` : "";
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
  400: { message: "it does not know this position; remove the --state file, or --since", passes: "never" },
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

const TLS_CODES = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|ERR_OSSL)/;

/** Whether the TLS handshake failed, such as for an untrusted certificate. */
export function isTlsError(error: unknown): boolean {
  return TLS_CODES.test(errorCode(error));
}

export function tlsAdvice(origin: string, error: unknown): string {
  return (
    `${origin}: TLS failed (${errorCode(error)}). Where its certificate is of an authority of your own, start this command ` +
    "with NODE_EXTRA_CA_CERTS=<its PEM file>; where it speaks plain HTTP, write http:// there"
  );
}

function connectionErrorMessage(error: unknown, { origin, hostname }: URL): string {
  if (isTlsError(error)) return tlsAdvice(origin, error);
  if (errorCode(error) === "ENOTFOUND")
    return `${origin}: there is no host ${hostname}. Check --from, and this machine's network`;
  if (errorCode(error) === "ECONNREFUSED") return `${origin} takes no connection. Does the receiver run there?`;
  return `${origin} cannot be reached, or broke off: ${errorCode(error)}`;
}

/** The system's code of an error, or its message. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.message;
}

/**
 * Whether another try may succeed: `always`, only if one has succeeded before (`after_success`), or `never` unless the
 * user changes something.
 */
type RetryWhen = "always" | "after_success" | "never";

/** The connection ended, or could not be made. The message says what to do. */
export class Disconnected extends Error {
  override readonly name = "Disconnected";
  readonly retryWhen: RetryWhen;
  /** The pause that the receiver asked for; 0 without one. */
  readonly retryAfterMs: number;

  constructor(message: string, retryWhen: RetryWhen, retryAfterMs = 0) {
    super(message);
    this.retryWhen = retryWhen;
    this.retryAfterMs = retryAfterMs;
  }
}
