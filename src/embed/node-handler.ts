import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { knownAddress, type ReadOrigin } from "../http/exchange/index.ts";
import { ApplicationExchange } from "./application-exchange.ts";
import { applicationReceiver } from "./application-receiver.ts";
import { respondNotFound } from "./plain-responses.ts";
import type { Receiver } from "./receiver.ts";

export interface NodeHandlerOptions {
  /**
   * The client's address, such as `(request) => request.ip` of Express; else `TRUST_PROXY` decides. The address is unknown
   * if it throws.
   */
  readonly clientAddress?: (request: IncomingMessage) => string | undefined;
}

export type NodeHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * A handler for node:http, node:http2, Express, Connect and Nest. Requests to other addresses go on to `next`, untouched; without it
 * they get 404. Mount it before whatever parses bodies.
 */
export function toNodeHandler(receiver: Receiver, options: NodeHandlerOptions = {}): NodeHandler {
  const { clientAddress } = options;
  const { originOf: direct } = applicationReceiver(receiver, "toNodeHandler(receiver)");
  const originOf: ReadOrigin =
    clientAddress === undefined
      ? direct
      : (message) => ({ ...direct(message), address: knownAddress(addressOf(clientAddress, message)) });
  return (request, response, next) => {
    const exchange = new ApplicationExchange(request as IncomingMessage, response as ServerResponse, { originOf });
    if (receiver.handle(exchange) || (exchange.takeMountedPath() && receiver.handle(exchange))) return exchange.hold();
    if (next !== undefined) return next();
    respondNotFound(exchange);
  };
}

function addressOf(clientAddress: NonNullable<NodeHandlerOptions["clientAddress"]>, request: IncomingMessage): string {
  try {
    return clientAddress(request) ?? "";
  } catch {
    return "";
  }
}
