import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeExchange } from "../../src/http/exchange/node-exchange.ts";

export const CLIENT = "192.0.2.1";

/** The listener's exchange for a request to another server, without the listener's bounds. */
export function nodeExchange(message: IncomingMessage, response: ServerResponse): NodeExchange {
  return new NodeExchange(message, response, {
    originOf: () => ({ address: CLIENT, protocol: "http" }),
    throttle: { wait: () => undefined },
    clientErrors: { codeFor: () => undefined },
  });
}
