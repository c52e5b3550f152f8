import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "../domain/index.ts";
import { NodeExchange, type ReadOrigin } from "../http/exchange/index.ts";
import type { BodyReader, ResponseHeaders } from "../receive/index.ts";
import { bodyGiven } from "./body-given.ts";

/** A request with what Express, Connect and Nest add. */
export interface FrameworkMessage extends IncomingMessage {
  /** As it was sent, before a mount path was taken off. */
  readonly originalUrl?: string;
}

interface ApplicationExchangeOptions {
  readonly originOf: ReadOrigin;
  /** As it was sent; a framework may have written another one into `message.url`. */
  readonly target?: string;
}

/** A Node request that a framework hands over. It may have been read, and others may listen to it. */
export class ApplicationExchange extends NodeExchange {
  override readonly target: string;
  override readonly ownsPieces = false;
  path: string;
  readonly #message: FrameworkMessage;
  #isHeld = false;
  /** Once it is read, or a response says that it never will be. */
  #isSettled = false;

  constructor(message: FrameworkMessage, response: ServerResponse, options: ApplicationExchangeOptions) {
    super(message, response, options);
    this.#message = message;
    this.target = options.target ?? message.originalUrl ?? message.url ?? "";
    this.path = pathOf(this.target);
  }

  /** Mounted by a framework below a path of which `baseUrl` knows nothing. @returns whether there is such a path */
  takeMountedPath(mounted = pathOf(this.#message.url ?? "")): boolean {
    if (mounted === this.path) return false;
    this.path = mounted;
    return true;
  }

  /** Keeps the body until it is read. While the request waits, another listener, such as an APM's, would let it pass. */
  hold(): void {
    const message = this.#message;
    if (this.#isSettled || this.method === "GET" || message.readableFlowing !== true || message.readableDidRead) return;
    message.pause();
    this.#isHeld = true;
  }

  override readBody(reader: BodyReader): void {
    this.#isSettled = true;
    const read = bodyGiven(this.#message);
    if (read === undefined) {
      super.readBody(reader);
      if (this.#isHeld) this.#message.resume();
    } else if (read instanceof Error) reader.consumed(read);
    else {
      reader.piece(read);
      reader.end();
    }
  }

  override respond(status: number, headers: ResponseHeaders, body: string, lingers: boolean): void {
    super.respond(status, headers, body, lingers);
    if (this.#isSettled) return;
    this.#isSettled = true;
    // Node drops an unread body after its response, but none that has a listener. The connection's next request is behind it.
    if (this.#isHeld) this.#message.resume();
  }
}
