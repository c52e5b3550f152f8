import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../domain/index.ts";
import type { RequestSpan, Tracer } from "../observability/tracing/index.ts";
import type { PathParameters } from "../sources/index.ts";
import type { UnverifiedBody } from "./unverified-bodies.ts";

/** Resolves when the next response to a request that is not authentic may be sent; undefined when it may at once. */
interface UnverifiedThrottle {
  next(socket: Socket): Promise<void> | undefined;
}

/** One request on the public listener, with what is noted of it as it arrives. */
export interface RequestContext {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly receivedAt: Date;
  /** On the scale of `performance.now()`. */
  readonly startedAt: number;
  /** The client's, and how it came, through trusted proxies only. */
  readonly address: string;
  readonly protocol: "http" | "https";
  /** Of an address whose path has parameters. */
  params: PathParameters | undefined;
  /** Whether the path is one that platforms call. */
  readonly isCallback: boolean;
  /** In which it waits for its response where it is not authentic. */
  readonly turns: UnverifiedThrottle;
  readonly responseHeaders: Record<string, string>;
  /** The bytes as they arrived; none before they were received. */
  body: Uint8Array;
  /** Counts its body's bytes as unverified until it is known whether they are authentic. */
  bodyReservation: UnverifiedBody | undefined;
  readonly span: RequestSpan | undefined;
  /** Its own asynchronous context, its span included: what continues it runs in there. */
  readonly context: AsyncResource;
}

export interface Arrival {
  readonly clock: Clock;
  readonly originOf: ReadOrigin;
  readonly turns: UnverifiedThrottle;
  readonly tracer: Tracer | undefined;
}

export type ReadOrigin = (message: IncomingMessage) => Pick<RequestContext, "address" | "protocol">;

const NOTHING = new Uint8Array();

const createContext = () => new AsyncResource("oncehook.request");

export function createRequestContext(
  message: IncomingMessage,
  response: ServerResponse,
  callbackPath: string | undefined,
  { clock, originOf, turns, tracer }: Arrival,
): RequestContext {
  const { address, protocol } = originOf(message);
  const requestId = randomUUID();
  const { method = "", headers, httpVersion } = message;
  const isCallback = callbackPath !== undefined;
  // The path as it is served, and never its query.
  const info = { method, route: callbackPath ?? "", protocol, httpVersion, address, headers };
  const span = isCallback ? tracer?.startRequest(info) : undefined;
  return {
    message,
    response,
    method,
    url: message.url ?? "",
    headers,
    requestId,
    receivedAt: clock.now(),
    startedAt: performance.now(),
    address,
    protocol,
    params: undefined,
    isCallback,
    turns,
    responseHeaders: {
      "x-request-id": requestId,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: NOTHING,
    bodyReservation: undefined,
    span,
    context: span?.within(createContext) ?? createContext(),
  };
}
