import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FaultCode } from "../../domain/index.ts";
import type { BodyReader, Exchange, ResponseHeaders } from "../../receive/index.ts";
import type { UnverifiedThrottle } from "../accept-gate.ts";
import type { ClientErrors } from "../client-error.ts";
import { type Http2Headers, http2Headers } from "./http2-headers.ts";
import type { ReadOrigin } from "./read-origin.ts";

interface ExchangeServices {
  readonly originOf: ReadOrigin;
  /** Only a listener has it and the next one. */
  readonly throttle?: UnverifiedThrottle;
  readonly clientErrors?: Pick<ClientErrors, "codeFor">;
}

/** How much of an unwanted body is read before its connection closes: more than the shipped proxies pass on. */
const LINGER = { bytes: 33_554_432, ms: 2_000 };

export class NodeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly ownsPieces: boolean = true;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #services: ExchangeServices;
  #sent: Http2Headers | undefined;
  #origin: ReturnType<ReadOrigin> | undefined;

  constructor(message: IncomingMessage, response: ServerResponse, services: ExchangeServices) {
    this.method = message.method ?? "";
    this.target = message.url ?? "";
    this.#message = message;
    this.#response = response;
    this.#services = services;
  }

  get address(): string {
    return this.#readOrigin().address;
  }

  get protocol(): Exchange["protocol"] {
    return this.#readOrigin().protocol;
  }

  /** Undefined but for HTTP/2, where Node leaves some out. */
  #http2(): Http2Headers | undefined {
    if (this.#message.httpVersionMajor === 1) return undefined;
    this.#sent ??= http2Headers(this.#message);
    return this.#sent;
  }

  /** An application's requests to other addresses never ask for it. */
  #readOrigin(): ReturnType<ReadOrigin> {
    this.#origin ??= this.#services.originOf(this.#message);
    return this.#origin;
  }

  get httpVersion(): string {
    return this.#message.httpVersion;
  }

  get headers(): Exchange["headers"] {
    return this.#http2()?.headers ?? this.#message.headers;
  }

  get distinctHeaders(): Exchange["distinctHeaders"] {
    return this.#http2()?.distinctHeaders ?? this.#message.headersDistinct;
  }

  get rawHeaders(): readonly string[] {
    return this.#http2()?.rawHeaders ?? this.#message.rawHeaders;
  }

  readBody(reader: BodyReader): void {
    const message = this.#message;
    // It emits nothing more: its client left while the request waited.
    if (message.destroyed) return reader.lost();
    message.on("data", (piece: Uint8Array) => reader.piece(piece));
    message.on("end", () => reader.end());
    message.on("close", () => reader.lost());
  }

  stopReading(): void {
    this.#message.pause();
  }

  writtenFault(): FaultCode | undefined {
    return this.#services.clientErrors?.codeFor(this.#message.socket);
  }

  waitUnverified(): Promise<void> | undefined {
    return this.#services.throttle?.wait(this.#message.socket);
  }

  respond(status: number, headers: ResponseHeaders, body: string, lingers: boolean): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    response.writeHead(status, this.#message.httpVersionMajor === 1 ? headers : withoutConnection(headers));
    if (lingers && !this.#message.complete) this.#endOnceRead(body);
    else response.end(body);
  }

  /**
   * Closing a connection over which bytes still arrive resets it. The client, often a proxy, may then lose the response
   * (RFC 9112 §9.6). The rest of the request is read first, within bounds, and dropped.
   */
  #endOnceRead(body: string): void {
    const response = this.#response;
    let left = LINGER.bytes;
    const end = () => void response.end();
    const timer = setTimeout(end, LINGER.ms);
    response.on("close", () => clearTimeout(timer));
    response.write(body);
    this.#message.on("end", end).on("data", ({ length }: Uint8Array) => {
      left -= length;
      if (left < 0) end();
    });
    this.#message.resume();
  }

  async stream(headers: ResponseHeaders, texts: (over: AbortSignal) => AsyncIterable<string>, over: AbortSignal) {
    const response = this.#response;
    if (response.destroyed) return;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, over]);
    response.writeHead(200, headers);
    for await (const text of texts(signal)) {
      if (signal.aborted) return;
      if (!response.write(text)) await once(response, "drain", { signal }).catch(() => {});
    }
  }

  abort(): void {
    this.#response.destroy();
  }
}

/** HTTP/2 has no `Connection` (RFC 9113 §8.2.2), and Node warns of it. */
function withoutConnection({ connection, ...others }: ResponseHeaders): ResponseHeaders {
  return others;
}
