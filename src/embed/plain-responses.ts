import type { Exchange } from "../receive/index.ts";

export const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

/** To a request at none of a receiver's addresses, where no framework responds to it. */
export function respondNotFound(exchange: Pick<Exchange, "respond">): void {
  exchange.respond(404, JSON_TYPE, '{"error":"not found"}', false);
}

/** The response while a receiver cannot be opened, or once it is closed: its callers try again. */
export const UNAVAILABLE = {
  status: 503,
  headers: { ...JSON_TYPE, "retry-after": "5" },
  body: '{"error":"temporarily unavailable"}',
};
