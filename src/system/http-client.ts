import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface SendRequestOptions {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the look-up of the name to the last byte of the response. */
  readonly timeLimitMs: number;
  /** The rest of a longer body is not read. */
  readonly maxBytes: number;
  /** PEM: trust this certificate and no other, whatever its name. For a listener of this process. */
  readonly certificate?: Buffer | undefined;
  readonly signal?: AbortSignal;
}

export type ReceivedResponse = Awaited<ReturnType<typeof sendRequest>>;

/**
 * One request and its response, over a new connection, no redirect followed.
 * @throws the system's error, with its `code`; a DOMException named TimeoutError past the time limit; the signal's reason
 */
export async function sendRequest(url: URL, sending: SendRequestOptions) {
  const { method, headers, body = "", timeLimitMs, maxBytes, certificate } = sending;
  const timeLimit = AbortSignal.timeout(timeLimitMs);
  const signal = sending.signal === undefined ? timeLimit : AbortSignal.any([timeLimit, sending.signal]);
  const length = method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {};
  const options = {
    ...{ method, agent: false, signal, headers: { ...headers, ...length } },
    ...(url.protocol === "https:" ? tlsOptions(certificate) : {}),
  };
  try {
    const response = await openRequest(url, options, body);
    const remoteAddress = response.socket.remoteAddress ?? "";
    const read = await readBeyond(response, maxBytes);
    const text = read.subarray(0, maxBytes).toString("utf8");
    return { status: response.statusCode ?? 0, headers: response.headers, body: text, remoteAddress };
  } catch (error) {
    // Node reports the end of the time as the error that it caused.
    throw signal.aborted ? signal.reason : error;
  }
}

/** Explicit, since NODE_TLS_REJECT_UNAUTHORIZED in the environment would switch the check off. */
function tlsOptions(certificate: Buffer | undefined) {
  if (certificate === undefined) return { rejectUnauthorized: true };
  const checkServerIdentity = () => undefined;
  return { rejectUnauthorized: true, ca: certificate, allowPartialTrustChain: true, checkServerIdentity };
}

/** Sends a request; resolves at the head of its response. @throws the system's error, with its `code` */
export function openRequest(url: URL, options: RequestOptions, body: string | Uint8Array) {
  const answered = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === "https:" ? requestHttps : requestHttp;
  open(url, options).on("error", answered.reject).once("response", answered.resolve).end(body);
  return answered.promise;
}

/** A body, or as much of it as shows that it is longer than `maxBytes`. */
async function readBeyond(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    // `break` destroys the stream: the rest is not received.
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

const MAX_BYTES = 1_048_576;

/** `fetch` that follows no redirect and reads at most 1 MiB; for a platform's servers. */
export async function boundedFetch(url: string, init: object = {}): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const { status, headers } = response;
  if (response.body === null) return response;
  const read = await readBeyond(response.body, MAX_BYTES);
  if (read.length > MAX_BYTES) throw new Error(`${new URL(url).origin} answers with more than ${MAX_BYTES} bytes`);
  // The body is decoded already, so it is neither compressed nor of the length that was announced.
  const decoded = new Headers(headers);
  decoded.delete("content-encoding");
  decoded.delete("content-length");
  return new Response(read, { status, headers: decoded });
}
