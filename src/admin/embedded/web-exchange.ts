import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable, Writable } from "node:stream";

export interface WebRequest {
  readonly method: string;
  /** The path below the mount, with the query. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

/** A request without a socket, in the shape that Fastify reads. */
export function messageOf({ method, target, headers, body }: WebRequest): IncomingMessage {
  const readable = body === null ? Readable.from([]) : Readable.fromWeb(body as never);
  // An aborted body ends the read, and with it the request.
  readable.on("error", () => {});
  const message = Object.assign(readable, {
    ...{ method, url: target, headers, rawHeaders: Object.entries(headers).flat() },
    ...{ httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1, aborted: false, complete: true },
    socket: { remoteAddress: "", encrypted: false },
  });
  return message as unknown as IncomingMessage;
}

/** Bytes that wait for the reader of a response. */
const HIGH_WATER_BYTES = 65_536;

/**
 * A response without a socket, with the members that Fastify and the admin routes use. It becomes a `Response` whose body
 * streams. A slow reader slows the route down, and one that leaves ends its work.
 */
export class WebResponse extends Writable {
  statusCode = 200;
  headersSent = false;
  /** With its headers; rejected where the route ended without any. */
  readonly response: Promise<Response>;
  readonly #headers = new Map<string, number | string | readonly string[]>();
  readonly #withoutBody: boolean;
  #respond: (response: Response) => void = () => {};
  #fail: (error: Error) => void = () => {};
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Called when the reader has room again. */
  #wanted: (() => void) | undefined;
  #idle: { readonly ms: number; timer: NodeJS.Timeout } | undefined;

  constructor({ method, signal }: Pick<WebRequest, "method" | "signal">) {
    super({ highWaterMark: HIGH_WATER_BYTES, decodeStrings: true });
    this.#withoutBody = method === "HEAD";
    const leave = () => void this.destroy();
    signal.addEventListener("abort", leave);
    this.once("close", () => signal.removeEventListener("abort", leave));
    // A write to a client that just left is no error.
    this.on("error", () => {});
    this.response = new Promise((resolve, reject) => {
      this.#respond = resolve;
      this.#fail = reject;
    });
    // A client that left early does not wait for it.
    this.response.catch(() => {});
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  getHeader(name: string) {
    return this.#headers.get(name.toLowerCase());
  }

  getHeaders() {
    return Object.fromEntries(this.#headers);
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    this.statusCode = status;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value);
    this.flushHeaders();
    return this;
  }

  flushHeaders(): void {
    if (this.headersSent) return;
    this.headersSent = true;
    const headers = new Headers();
    for (const [name, value] of this.#headers) for (const one of [value].flat()) headers.append(name, String(one));
    const { statusCode: status } = this;
    const hasBody = !this.#withoutBody && status !== 204 && status !== 304;
    this.#respond(new Response(hasBody ? this.#readable() : null, { status, headers }));
  }

  /** Calls back once after so long without a byte written or read, as a socket does. */
  setTimeout(ms: number, callback: () => void): this {
    clearTimeout(this.#idle?.timer);
    this.#idle = { ms, timer: setTimeout(callback, ms).unref() };
    return this;
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.flushHeaders();
    this.#idle?.timer.refresh();
    if (this.#body === undefined) return done();
    this.#body.enqueue(new Uint8Array(bytes));
    if ((this.#body.desiredSize ?? 0) > 0) done();
    else this.#wanted = done;
  }

  override _final(done: () => void): void {
    this.flushHeaders();
    this.#body?.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle?.timer);
    const broken = error ?? new Error("the response ended early");
    if (!this.writableFinished) this.#body?.error(broken);
    this.#fail(broken);
    done(null);
  }

  #readable(): ReadableStream<Uint8Array> {
    const more = () => {
      this.#idle?.timer.refresh();
      const done = this.#wanted;
      this.#wanted = undefined;
      done?.();
    };
    const start = (body: ReadableStreamDefaultController<Uint8Array>) => {
      this.#body = body;
    };
    const cancel = () => void this.destroy();
    return new ReadableStream({ start, pull: more, cancel }, { highWaterMark: HIGH_WATER_BYTES, size: byteLength });
  }
}

function byteLength(bytes: Uint8Array): number {
  return bytes.byteLength;
}

export function asServerResponse(response: WebResponse): ServerResponse {
  return response as unknown as ServerResponse;
}
