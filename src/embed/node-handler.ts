import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "../domain/index.ts";
import { NodeExchange, type ReadOrigin } from "../http/exchange/index.ts";
import type { BodyReader } from "../receive/index.ts";
import { normalAddress } from "../system/index.ts";
import { bodyGiven } from "./body-given.ts";
import type { ApplicationReceiver } from "./create-receiver.ts";
import type { Receiver } from "./receiver.ts";

export interface NodeHandlerOptions {
  /** The client's address, such as `(request) => request.ip` of Express; else `TRUST_PROXY` decides. */
  readonly clientAddress?: (request: IncomingMessage) => string | undefined;
}

export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * A handler for node:http, Express, Connect and Nest. Requests to other addresses go on to `next`, untouched; without it
 * they get 404. Mount it before whatever parses bodies.
 */
export function toNodeHandler(receiver: Receiver, options: NodeHandlerOptions = {}): NodeHandler {
  const { clientAddress } = options;
  const { originOf: direct } = receiver as ApplicationReceiver;
  const originOf: ReadOrigin =
    clientAddress === undefined
      ? direct
      : (message) => ({ ...direct(message), address: normalAddress(clientAddress(message) ?? "") });
  return (request, response, next) => {
    const exchange = new ApplicationExchange(request, response, originOf);
    if (receiver.handle(exchange)) return;
    if (exchange.takeMountedPath() && receiver.handle(exchange)) return;
    if (next !== undefined) return next();
    exchange.respond(404, { "content-type": "application/json; charset=utf-8" }, JSON.stringify(NOT_FOUND), false);
  };
}

const NOT_FOUND = { error: "not found" };

/** A request with what Express and Nest add. */
export interface FrameworkMessage extends IncomingMessage {
  readonly originalUrl?: string;
}

class ApplicationExchange extends NodeExchange {
  override readonly target: string;
  override readonly ownsPieces = false;
  path: string;
  readonly #message: FrameworkMessage;

  constructor(message: FrameworkMessage, response: ServerResponse, originOf: ReadOrigin) {
    super(message, response, { originOf });
    this.#message = message;
    this.target = message.originalUrl ?? message.url ?? "";
    this.path = pathOf(this.target);
  }

  /** Mounted by a framework below a path of which `baseUrl` knows nothing. @returns whether there is such a path */
  takeMountedPath(): boolean {
    const mounted = pathOf(this.#message.url ?? "");
    if (mounted === this.path) return false;
    this.path = mounted;
    return true;
  }

  override readBody(reader: BodyReader): void {
    const given = bodyGiven(this.#message);
    if (given === undefined) super.readBody(reader);
    else if (given instanceof Error) reader.consumed(given);
    else {
      if (given.length > 0) reader.piece(given);
      reader.end();
    }
  }
}
