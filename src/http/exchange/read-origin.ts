import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import proxyAddr from "@fastify/proxy-addr";
import type { Exchange } from "../../receive/index.ts";
import { normalAddress } from "../../system/index.ts";

/** A client's address and protocol, through trusted proxies only. */
export type ReadOrigin = (message: IncomingMessage) => Pick<Exchange, "address" | "protocol">;

/** Believes X-Forwarded-For and X-Forwarded-Proto only from these proxies, and reads them from the right. */
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

/** The nearest proxy adds its value last. */
function lastOf(values: string): "http" | "https" {
  const last = values.slice(values.lastIndexOf(",") + 1).trim();
  return last.toLowerCase() === "https" ? "https" : "http";
}

interface Peer {
  readonly address: string | undefined;
  readonly protocol: Exchange["protocol"];
  readonly headers: IncomingMessage["headers"];
}

/** The address that an application hands over; empty for a list of a header, and for an object. */
export function knownAddress(given: unknown): string {
  const address = typeof given === "string" ? normalAddress(given) : "";
  return isIP(address) === 0 ? "" : address;
}

/** The client of a request that is none of Node, such as a WHATWG `Request` or an event of Lambda. */
export function readOriginOf(originOf: ReadOrigin, { address, protocol, headers }: Peer): ReturnType<ReadOrigin> {
  const socket = { remoteAddress: knownAddress(address) || undefined, encrypted: protocol === "https" };
  return originOf({ headers, socket, connection: socket } as never);
}
