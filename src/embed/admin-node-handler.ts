import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { AdminFetch } from "./admin-fetch.ts";
import type { NodeHandler } from "./node-handler.ts";
import { JSON_TYPE } from "./plain-responses.ts";

export interface AdminHandlerOptions {
  /**
   * The path under which the page is, such as `/admin/webhooks`. By default it is the path that Express or Connect took
   * off the address. Without those it is the root of the server.
   */
  readonly basePath?: string;
}

/** A request with the members that Express and Connect add. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string;
  /** By its `trust proxy`. */
  readonly ip?: string;
  /** Of a parser that ran before. */
  readonly body?: unknown;
}

/** A receiver of `createReceiver`. */
export interface AdminReceiver {
  readonly admin: Pick<AdminFetch, "fetch">;
}

/** A `Request` refuses these. */
const NOT_OF_FETCH = new Set(["CONNECT", "TRACE", "TRACK"]);

/** For node:http, node:http2, Express, Connect and Nest: `app.use("/admin/webhooks", toAdminHandler(receiver))`. */
export function toAdminHandler(receiver: AdminReceiver, options: AdminHandlerOptions = {}): NodeHandler {
  return (sent, answered, next) => {
    const [request, response] = [sent as IncomingMessage, answered as ServerResponse];
    if (NOT_OF_FETCH.has(request.method ?? "")) {
      response.writeHead(405, JSON_TYPE).end('{"error":"this method is not allowed"}');
      return;
    }
    answer(receiver, options, request, response).catch((error: unknown) => {
      // A client that has left gets no page of an error.
      if (response.headersSent || response.destroyed) response.destroy();
      else if (next !== undefined) next(error);
      else response.writeHead(500, JSON_TYPE).end('{"error":"internal error"}');
    });
  };
}

async function answer(
  { admin }: AdminReceiver,
  options: AdminHandlerOptions,
  request: MountedRequest,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { ip, socket } = request;
  const answered = await admin.fetch(toRequest(request, gone.signal), {
    basePath: options.basePath ?? mountOf(request),
    clientAddress: ip ?? socket.remoteAddress,
    native: request,
  });
  response.statusCode = answered.status;
  // In place of a header that the application set for its own pages, such as a content security policy.
  for (const [name, value] of answered.headers) response.setHeader(name, value);
  if (answered.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  // The client has left, or the receiver ended a live stream.
  await pipeline(Readable.fromWeb(answered.body as never), response).catch(() => response.destroy());
}

/** The path that was taken off the address; at the mount itself a slash was put in its place. */
function mountOf({ originalUrl, url = "/" }: MountedRequest): string {
  if (originalUrl === undefined) return "";
  const [[whole = ""], [path = ""]] = [originalUrl.split("?", 1), url.split("?", 1)];
  if (whole.endsWith(path)) return whole.slice(0, whole.length - path.length);
  return `${whole}/`.endsWith(path) ? whole : "";
}

type Body = NonNullable<NonNullable<ConstructorParameters<typeof Request>[1]>["body"]>;

/** Headers of a connection, which a `Request` has none of. */
const OF_CONNECTION = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

function toRequest(message: MountedRequest, signal: AbortSignal): Request {
  const {
    method = "GET",
    headers: { ":authority": authority = "localhost", host = String(authority) },
    originalUrl,
    url = "/",
  } = message;
  const protocol = "encrypted" in message.socket ? "https" : "http";
  const named = URL.parse(`${protocol}://${host}`)?.origin;
  const origin = named ?? `${protocol}://localhost`;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined && !OF_CONNECTION.has(name) && !name.startsWith(":")) headers.set(name, String(value));
  const body = bodyOf(message, headers);
  // A malformed one; the guard would refuse it.
  if (named === undefined) headers.delete("host");
  // `duplex`: the body is a stream, which `fetch` demands to be said.
  return new Request(origin + (originalUrl ?? url), { method, headers, signal, body, duplex: "half" } as RequestInit);
}

/** As `Readable.toWeb` makes it, but the end of its reader does not end the connection before the response is sent. */
function unread(message: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = message.iterator({ destroyOnReturn: false });
  return new ReadableStream({
    async pull(body) {
      const { done, value } = await pieces.next();
      if (done) body.close();
      else body.enqueue(value);
    },
    async cancel() {
      await pieces.return?.();
      // The connection's next request begins after the rest.
      message.resume();
    },
  });
}

/**
 * The body as it arrives, or what a parser left of it. Nothing here is signed, so that JSON may be written again.
 * @throws Error where the parser left nothing
 */
function bodyOf(message: MountedRequest, headers: Headers): Body | null {
  const { method, headers: sent, body } = message;
  // Of HTTP/2 no header says whether there is one.
  const isFramed = sent["transfer-encoding"] !== undefined || message.httpVersionMajor > 1;
  const hasBody = isFramed || Number(sent["content-length"] ?? 0) > 0;
  if (!hasBody || method === "GET" || method === "HEAD") return null;
  if (!message.readableDidRead) return unread(message);
  // Of the bytes that were sent, before they were decompressed and parsed.
  for (const name of ["content-length", "content-encoding"]) headers.delete(name);
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body !== undefined) return JSON.stringify(body);
  throw new Error(
    "the body of an admin request was read before, and request.body has nothing of it; mount the admin page before the " +
      "parser that read it",
  );
}
