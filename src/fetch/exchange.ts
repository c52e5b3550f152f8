import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";

export interface Sending {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the look-up of the name to the last byte of the answer. */
  readonly timeLimitMs: number;
  /** What is longer of the answer's body is not read. */
  readonly mostBytes: number;
  /** PEM: believe this certificate and no other, whatever its name. For a listener of this very process. */
  readonly certificate?: Buffer | undefined;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The address that was connected to. */
  readonly remoteAddress: string;
}

/**
 * One request and its answer, over a connection of its own, no redirect followed.
 * @throws the system's error, with its `code`; a DOMException named TimeoutError past the time limit
 */
export async function exchange(url: URL, sending: Sending): Promise<Exchanged> {
  const { method, headers, body = "", timeLimitMs, mostBytes, certificate } = sending;
  const signal = AbortSignal.timeout(timeLimitMs);
  const length = method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {};
  const options = {
    ...{ method, agent: false, signal, headers: { ...headers, ...length } },
    ...(url.protocol === "https:" ? trustIn(certificate) : {}),
  };
  try {
    const response = await answerTo(url, options, body);
    const remoteAddress = response.socket.remoteAddress ?? "";
    const text = await beginningOf(response, mostBytes);
    return { status: response.statusCode ?? 0, headers: response.headers, body: text, remoteAddress };
  } catch (error) {
    // Node words the end of the time as whatever broke by it.
    throw signal.aborted ? signal.reason : error;
  }
}

/** Said outright: what a variable of the environment (NODE_TLS_REJECT_UNAUTHORIZED) switches off would be believed otherwise. */
function trustIn(certificate: Buffer | undefined) {
  if (certificate === undefined) return { rejectUnauthorized: true };
  const checkServerIdentity = () => undefined;
  return { rejectUnauthorized: true, ca: certificate, allowPartialTrustChain: true, checkServerIdentity };
}

function answerTo(url: URL, options: RequestOptions, body: string): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === "https:" ? requestHttps : requestHttp;
  open(url, options).on("error", answered.reject).once("response", answered.resolve).end(body);
  return answered.promise;
}

async function beginningOf(response: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    // To leave is to destroy: the rest is not received.
    if (bytes >= mostBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, mostBytes).toString("utf8");
}
