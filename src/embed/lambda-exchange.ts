import { type ReadOrigin, readOriginOf } from "../http/exchange/index.ts";
import type { BodyReader, Exchange, ResponseHeaders } from "../receive/index.ts";
import { joinedHeaders } from "./joined-headers.ts";

/** An event of a function URL, or of an HTTP API with payload format 2.0. */
export interface LambdaEvent {
  readonly version: string;
  /** An HTTP API hands it over decoded. */
  readonly rawPath: string;
  readonly rawQueryString: string;
  /** Repeated ones are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies?: readonly string[] | undefined;
  readonly requestContext: { readonly http: { readonly method: string; readonly sourceIp: string } };
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
}

export interface LambdaResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly cookies?: string[];
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** Those of one connection, which are the gateway's; it knows the length too. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["connection", "content-length", "set-cookie"]);

/** No `Request` is made of an event: it would rewrite the target and refuse some headers. */
export class LambdaExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly httpVersion = "1.1";
  readonly headers: Record<string, string>;
  readonly distinctHeaders: Record<string, string[]>;
  readonly rawHeaders: string[];
  readonly address: string;
  readonly protocol: "http" | "https";
  readonly ownsPieces = false;
  readonly response: Promise<LambdaResponse>;
  readonly #body: Uint8Array | Error;
  readonly #settle: (response: LambdaResponse) => void;

  constructor(event: LambdaEvent, originOf: ReadOrigin) {
    const { promise, resolve } = Promise.withResolvers<LambdaResponse>();
    this.response = promise;
    this.#settle = resolve;
    this.method = event.requestContext.http.method;
    this.target = targetOf(event);
    const cookie = event.cookies?.join("; ");
    const sent = Object.entries({ ...event.headers, ...(cookie !== undefined && { cookie }) });
    ({
      headers: this.headers,
      distinctHeaders: this.distinctHeaders,
      rawHeaders: this.rawHeaders,
    } = joinedHeaders(sent));
    this.#body = bodyOf(event);
    const { sourceIp } = event.requestContext.http;
    const origin = readOriginOf(originOf, { address: sourceIp, protocol: "https", headers: this.headers });
    this.address = origin.address;
    this.protocol = origin.protocol;
  }

  readBody(reader: BodyReader): void {
    if (this.#body instanceof Error) return reader.consumed(this.#body);
    reader.piece(this.#body);
    reader.end();
  }

  /** The whole body has arrived with the event. */
  stopReading(): void {}

  respond(status: number, responseHeaders: ResponseHeaders, body: string): void {
    const pairs = Object.entries(responseHeaders).filter(([name]) => !OF_THE_CONNECTION.has(name));
    const headers = Object.fromEntries(pairs.map(([name, values]) => [name, [values].flat().join(", ")]));
    const cookies = [responseHeaders["set-cookie"] ?? []].flat();
    const isEmpty = status === 204 || this.method === "HEAD";
    this.#settle({
      ...{ statusCode: status, headers, body: isEmpty ? "" : body, isBase64Encoded: false },
      ...(cookies.length > 0 && { cookies }),
    });
  }

  abort(): void {
    this.#settle({ statusCode: 500, headers: {}, body: "", isBase64Encoded: false });
  }
}

/** @returns an error where a middleware has put another value in its place */
function bodyOf({ body = "", isBase64Encoded }: LambdaEvent): Uint8Array | Error {
  // Some gateways and simulators write null where there is none.
  const text: unknown = body ?? "";
  if (typeof text === "string") return Buffer.from(text, isBase64Encoded ? "base64" : "utf8");
  return new Error(PARSED);
}

const PARSED =
  "a middleware, such as Middy's httpJsonBodyParser, has parsed the body before the receiver, and the bytes that the " +
  "platform signed are gone. Give toLambdaHandler(receiver) the event as Lambda hands it over, without that middleware";

/** Characters that the path of a URL holds only percent-encoded. */
const NOT_IN_A_PATH = /[^!-~]+|["#<>?[\]\\^`{|}]/gu;

function targetOf({ rawPath, rawQueryString }: LambdaEvent): string {
  const path = rawPath.toWellFormed().replace(NOT_IN_A_PATH, encodeURIComponent);
  return rawQueryString === "" ? path : `${path}?${rawQueryString}`;
}
