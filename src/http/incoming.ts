import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import proxyAddr from "@fastify/proxy-addr";
import type { Clock } from "../domain/index.ts";
import type { RequestPhase } from "../trace/index.ts";
import { normalAddress } from "./remote-address.ts";
import type { UnverifiedTurns } from "./turning-away.ts";

/** One request on the public listener, with what is noted of it as it arrives. */
export interface Incoming {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The request target as it was sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly receivedAt: Date;
  /** On the scale of `performance.now()`. */
  readonly startedAt: number;
  /** The client's, and how it came, through trusted proxies only. */
  readonly address: string;
  readonly protocol: "http" | "https";
  /** Whether the path is one that platforms call. */
  readonly isCallback: boolean;
  /** In which it waits for its response where it is not authentic. */
  readonly turns: UnverifiedTurns;
  /** Headers that every answer to it carries. */
  readonly answerHeaders: Record<string, string>;
  /** The bytes as they arrived; none before they were received. */
  body: Uint8Array;
  /** Called once it is known whether the body is authentic: its bytes count as a stranger's until then. */
  verified: () => void;
  /** Its trace, where it is traced. */
  phase: RequestPhase | undefined;
}

/** What all requests of a listener have in common. */
interface Arriving {
  readonly clock: Clock;
  readonly originOf: Origin;
  readonly turns: UnverifiedTurns;
}

/** Tells where a request comes from. */
export type Origin = (message: IncomingMessage) => Pick<Incoming, "address" | "protocol">;

const NOTHING = new Uint8Array();
const NO_BODY = (): void => {};

export function incoming(
  message: IncomingMessage,
  response: ServerResponse,
  isCallback: boolean,
  { clock, originOf, turns }: Arriving,
): Incoming {
  const { address, protocol } = originOf(message);
  const requestId = randomUUID();
  return {
    message,
    response,
    method: message.method ?? "",
    url: message.url ?? "",
    headers: message.headers,
    requestId,
    receivedAt: clock.now(),
    startedAt: performance.now(),
    address,
    protocol,
    isCallback,
    turns,
    answerHeaders: {
      "x-request-id": requestId,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: NOTHING,
    verified: NO_BODY,
    phase: undefined,
  };
}

/** X-Forwarded-For and X-Forwarded-Proto are believed from these proxies alone, and read from the right. */
export function createOrigin(trustProxy: readonly string[]): Origin {
  const direct: Origin = ({ socket }) => ({
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
      address: normalAddress(proxyAddr(message, isTrusted)),
      protocol: isBelieved ? lastOf(String(forwarded)) : protocol,
    };
  };
}

/** What the nearest proxy has added stands last. */
function lastOf(values: string): "http" | "https" {
  return values
    .slice(values.lastIndexOf(",") + 1)
    .trim()
    .toLowerCase() === "https"
    ? "https"
    : "http";
}
