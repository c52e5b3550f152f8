import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { Clock } from "../domain/index.ts";
import type { RequestSpan, Tracer } from "../observability/tracing/index.ts";
import type { PathParameters } from "../sources/index.ts";
import type { Exchange } from "./exchange.ts";
import type { UnverifiedBody } from "./unverified-bodies.ts";

/** One request, with what is noted of it as it arrives. */
export interface RequestContext {
  readonly exchange: Exchange;
  readonly requestId: string;
  readonly receivedAt: Date;
  /** On the scale of `performance.now()`. */
  readonly startedAt: number;
  /** Of an address whose path has parameters. */
  readonly params: PathParameters | undefined;
  /** Whether the path is one that platforms call. */
  readonly isCallback: boolean;
  readonly responseHeaders: Record<string, string>;
  /** The bytes as they arrived; none before they were received. */
  body: Uint8Array;
  /** Counts its body's bytes as unverified until it is known whether they are authentic. */
  bodyReservation: UnverifiedBody | undefined;
  readonly span: RequestSpan | undefined;
  /** Its asynchronous context, its span included: everything that continues it runs in there. */
  readonly context: AsyncResource;
}

export const NO_BYTES = new Uint8Array();

const createContext = () => new AsyncResource("oncehook.request");

/** @param callbackPath the path as it is served, never with its query; undefined for an address that platforms do not call */
export function createRequestContext(
  exchange: Exchange,
  callbackPath: string | undefined,
  params: PathParameters | undefined,
  { clock, tracer }: { readonly clock: Clock; readonly tracer: Tracer | undefined },
): RequestContext {
  const requestId = randomUUID();
  const span = callbackPath === undefined ? undefined : startSpan(exchange, callbackPath, tracer);
  return {
    exchange,
    requestId,
    receivedAt: clock.now(),
    startedAt: performance.now(),
    params,
    isCallback: callbackPath !== undefined,
    responseHeaders: {
      "x-request-id": requestId,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: NO_BYTES,
    bodyReservation: undefined,
    span,
    context: span?.within(createContext) ?? createContext(),
  };
}

function startSpan(exchange: Exchange, route: string, tracer: Tracer | undefined): RequestSpan | undefined {
  const { method, protocol, httpVersion, address, headers } = exchange;
  return tracer?.startRequest({ method, route, protocol, httpVersion, address, headers });
}
