import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import proxyAddr from "@fastify/proxy-addr";
import type { Clock } from "../domain/index.ts";
import type { RequestSpan, Tracer } from "../observability/tracing/index.ts";
import type { PathParameters } from "../sources/index.ts";
import type { UnverifiedTurns } from "./admission.ts";
import { normalAddress } from "./remote-address.ts";
import type { UnverifiedBody } from "./unverified-bodies.ts";

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
  readonly turns: UnverifiedTurns;
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
  readonly turns: UnverifiedTurns;
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

/** X-Forwarded-For and X-Forwarded-Proto are believed from these proxies alone, and read from the right. */
export function createReadOrigin(trustProxy: readonly string[]): ReadOrigin {
  const direct: ReadOrigin = ({ socket }) => ({
    address: normalAddress(socket.remoteAddress ?? ""),
    protocol: (socket as TLSSocket).encrypted ? "https" : "http",
  });
  if (trustProxy.length === 0) return direct;
  const isTrusted = proxyAddr.compile([...trustProxy]);
  return (message) => {
    const { protocol } = direct(message);
    const forwarded = message.headers["x-forwarded-proto"];
    const isBelieved = forwarded !== undefined && isTrusted(message.socket.remoteAddress ?? "", 0);
    return {
      // Whatever its type says, it returns undefined for a connection that the client has reset.
      address: normalAddress(proxyAddr(message, isTrusted) ?? ""),
      protocol: isBelieved ? lastOf(String(forwarded)) : protocol,
    };
  };
}

/** What the nearest proxy has added stands last. */
function lastOf(values: string): "http" | "https" {
  const last = values.slice(values.lastIndexOf(",") + 1).trim();
  return last.toLowerCase() === "https" ? "https" : "http";
}
