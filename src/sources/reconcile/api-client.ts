import { type ReceivedResponse, sendRequest } from "../../system/index.ts";
import { parseExact } from "./api-json.ts";
import type { ListContext } from "./reconciliation.ts";

/** A platform's API that did not respond as documented; the message is for the operator and has no secret. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0 where there was no response. */
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }

  /** Whether the one resource that was requested does not exist; others may. */
  get isAbsent(): boolean {
    return this.status === 404 || this.status === 410;
  }
}

interface ApiRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** POST, as JSON. */
  readonly body?: object;
}

interface ApiResponse {
  readonly json: unknown;
  /** Of `Link` (RFC 8288); an empty text where there is none. */
  readonly link: string;
}

const TIME_LIMIT_MS = 30_000;
/** A hundred events, or the largest payload that GitHub sends, as its API writes it. */
const MAX_BYTES = 64 * 1024 * 1024;
const TRIES = 4;
const FIRST_PAUSE_MS = 1_000;
/** If the platform wants a longer pause, the next run asks again. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * Bounded requests to one platform. No redirect is followed, and every address is made here, so that the key reaches no
 * other host. A 429, a 5xx and a broken connection are tried again, up to four times in all, after `Retry-After`.
 */
export function createApiClient(apiUrl: string, headers: Readonly<Record<string, string>>) {
  const { host } = new URL(apiUrl);
  return async (
    { path, query = {}, body }: ApiRequest,
    { signal, pause }: Pick<ListContext, "signal" | "pause">,
  ): Promise<ApiResponse> => {
    const url = new URL(apiUrl + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
    const json: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const sent = {
      method: body === undefined ? ("GET" as const) : ("POST" as const),
      headers: { accept: "application/json", "user-agent": "oncehook", ...json, ...headers },
      timeLimitMs: TIME_LIMIT_MS,
      maxBytes: MAX_BYTES,
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    for (let tries = 1; ; tries += 1) {
      const result = await once(url, sent, host);
      if (!(result instanceof ApiError)) return result;
      signal.throwIfAborted();
      const waitMs = result instanceof TransientError ? result.waitMs(tries) : Number.POSITIVE_INFINITY;
      if (tries === TRIES || waitMs > LONGEST_PAUSE_MS) throw result;
      await pause(waitMs, signal);
    }
  };
}

/** A fault that may pass: the request is sent again. */
class TransientError extends ApiError {
  retryAfterMs: number | undefined;

  waitMs(tries: number): number {
    return this.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1);
  }
}

async function once(
  url: URL,
  sending: Parameters<typeof sendRequest>[1],
  host: string,
): Promise<ApiResponse | ApiError> {
  let response: ReceivedResponse;
  try {
    response = await sendRequest(url, sending);
  } catch (cause) {
    return new TransientError(`${host} cannot be reached: ${reasonOf(cause)}`, 0, { cause });
  }
  const { status, headers, body } = response;
  if (status !== 200) return statusError(response, `${sending.method} ${url.pathname} of ${host}`);
  if (Buffer.byteLength(body) >= MAX_BYTES)
    return new ApiError(`${host} returned more than ${MAX_BYTES} bytes`, status);
  try {
    return { json: parseExact(body), link: [headers.link ?? ""].flat().join(", ") };
  } catch {
    // Its error shows a part of the text.
    return new TransientError(`${host} returned 200 with a body that is not JSON, or was cut off`, status);
  }
}

function statusError({ status, headers }: ReceivedResponse, what: string): ApiError {
  const pauseMs = retryAfterMs(headers["retry-after"]);
  const isLimited = status === 429 || (status === 403 && pauseMs !== undefined);
  if (isLimited || status >= 500) {
    const hint = pauseMs === undefined ? "" : `; retry after ${Math.ceil(pauseMs / 1_000)} s`;
    const error = new TransientError(`${what} returned ${status}${hint}`, status);
    error.retryAfterMs = pauseMs;
    return error;
  }
  return new ApiError(`${what} returned ${status}${hintOf(status)}`, status);
}

function hintOf(status: number): string {
  if (status === 401 || status === 403) return ": `reconcile.apiKey` is not accepted, or may not read this";
  if (status >= 300 && status < 400) return ": a redirect, which is not followed; check `reconcile.apiUrl`";
  return "";
}

/** RFC 9110 §10.2.3: seconds or a date. @returns undefined where it is neither */
function retryAfterMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof DOMException) return `no response within ${TIME_LIMIT_MS / 1_000} s`;
  return code ?? message;
}
