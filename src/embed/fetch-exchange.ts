import { type ReadOrigin, readOriginOf } from "../http/exchange/index.ts";
import type { BodyReader, Exchange, ResponseHeaders } from "../receive/index.ts";
import { joinedHeaders } from "./joined-headers.ts";
import type { FetchInfo } from "./receiver.ts";

/** Those of one connection, which only the server knows: over HTTP/2 there are none. It knows the length too. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["connection", "content-length"]);

/** A WHATWG request. It joins repeated headers and normalises its address: whatever was signed with those is refused. */
export class FetchExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly httpVersion = "1.1";
  readonly headers: Record<string, string>;
  readonly distinctHeaders: Record<string, string[]>;
  readonly rawHeaders: string[];
  readonly address: string;
  readonly protocol: "http" | "https";
  readonly ownsPieces = false;
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #settle: (response: Response) => void;
  /** Bytes that may still be read. */
  #remainingBytes = Number.POSITIVE_INFINITY;

  constructor(request: Request, info: FetchInfo, originOf: ReadOrigin) {
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#settle = resolve;
    this.#request = request;
    this.method = request.method;
    this.target = info.target ?? targetOf(request.url);
    ({
      headers: this.headers,
      distinctHeaders: this.distinctHeaders,
      rawHeaders: this.rawHeaders,
    } = joinedHeaders(request.headers));
    const protocol = info.protocol ?? (request.url.startsWith("https:") ? "https" : "http");
    const origin = readOriginOf(originOf, { address: info.clientAddress, protocol, headers: this.headers });
    this.address = origin.address;
    this.protocol = origin.protocol;
  }

  readBody(reader: BodyReader): void {
    if (this.#request.bodyUsed) return reader.consumed(new Error(USED));
    if (isSmall(this.headers)) return void readWhole(this.#request, reader);
    const body = bodyOf(this.#request);
    if (body === undefined) return reader.lost();
    if (body?.locked) return reader.consumed(new Error(USED));
    if (body === null) return reader.end();
    void readAll(body, reader, (bytes) => {
      this.#remainingBytes -= bytes;
      return this.#remainingBytes >= 0;
    });
  }

  /**
   * The rest is read and dropped, as Node does with an unread body. A cancelled one would end the connection before the
   * response (SvelteKit), or throw in a server's listener (Next.js). One that does not end is left after a while.
   */
  stopReading(): void {
    this.#remainingBytes = UNWANTED_BYTES;
  }

  respond(status: number, headers: ResponseHeaders, body: string): void {
    const pairs = Object.entries(headers)
      .filter(([name]) => !OF_THE_CONNECTION.has(name))
      .flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]));
    const isEmpty = WITHOUT_BODY.has(status) || this.method === "HEAD";
    this.#settle(new Response(isEmpty ? null : body, { status, headers: pairs }));
  }

  abort(): void {
    this.#settle(new Response(null, { status: 500 }));
  }
}

/** How much of an unwanted body is read, as the listener's limit is. */
const UNWANTED_BYTES = 33_554_432;

/** Undefined where the server makes its Request only now, and cannot: Hono's of an address with a user and a password. */
function bodyOf(request: Request): ReadableStream<Uint8Array> | null | undefined {
  try {
    return request.body;
  } catch {
    return undefined;
  }
}

/** No more than a server buffers of a request that nothing reads. Its parser ends the body at the announced length. */
const SMALL_BYTES = 65_536;

function isSmall({ "content-length": length = "" }: FetchExchange["headers"]): boolean {
  return /^\d{1,5}$/.test(length) && Number(length) <= SMALL_BYTES;
}

/** In one piece: a server such as Hono's makes no stream then, which costs more than the rest. */
async function readWhole(request: Request, reader: BodyReader): Promise<void> {
  try {
    const bytes = new Uint8Array(await request.arrayBuffer());
    reader.piece(bytes);
    reader.end();
  } catch (error) {
    const isTaken = error instanceof TypeError && /unusable|locked|used/i.test(error.message);
    if (isTaken) reader.consumed(new Error(USED));
    else reader.lost();
  }
}

/** @param goesOn whether more is read after so many bytes */
async function readAll(
  body: ReadableStream<Uint8Array>,
  reader: BodyReader,
  goesOn: (bytes: number) => boolean,
): Promise<void> {
  try {
    const source = body.getReader();
    for (let piece = await source.read(); !piece.done; piece = await source.read()) {
      if (!ArrayBuffer.isView(piece.value)) return reader.consumed(new Error(NO_BYTES));
      reader.piece(piece.value);
      if (!goesOn(piece.value.byteLength)) return;
    }
    reader.end();
  } catch {
    reader.lost();
  }
}

/** A `Response` refuses a body with these. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const NO_BYTES =
  "the body of the Request is a stream of something else than bytes, and what the platform signed is gone before the " +
  "receiver: hand over the Request as it came";
const USED =
  "the body of the Request was read before the receiver, by request.json(), request.text() or a middleware (Hono's " +
  "c.req.json() among them): hand over the Request as it came (in Hono c.req.raw), before anything reads it";

/** Path and query of an absolute address, as they stand in it. */
function targetOf(url: string): string {
  const pathStart = url.indexOf("/", url.indexOf("//") + 2);
  const fragment = url.indexOf("#");
  if (pathStart === -1) return "/";
  return fragment === -1 ? url.slice(pathStart) : url.slice(pathStart, fragment);
}
