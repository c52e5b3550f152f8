import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "../domain/index.ts";
import { readOriginOf } from "../http/exchange/index.ts";
import { ApplicationExchange } from "./application-exchange.ts";
import { applicationReceiver } from "./application-receiver.ts";
import { respondNotFound } from "./plain-responses.ts";
import type { Receiver } from "./receiver.ts";

export interface OncehookFastifyOptions {
  readonly receiver: Receiver;
  /** Fastify takes it off the routes; it may stand in `baseUrl`. */
  readonly prefix?: string;
}

/** The parts of Fastify's instance that the plugin needs: nothing of Fastify is loaded here. */
interface FastifyScope {
  readonly prefix: string;
  removeAllContentTypeParsers(): void;
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types are generic in each of these.
  addContentTypeParser(type: string, parser: (request: any, payload: any, done: (error: null) => void) => void): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  all(path: string, handler: (request: any, reply: any) => void): any;
}

interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly originalUrl: string;
  /** By its `trustProxy`. */
  readonly ip: string;
  readonly protocol: "http" | "https";
}

interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): void;
}

/**
 * A plugin for Fastify: `app.register(oncehook, { receiver })`. It adds the addresses of the receiver, in a scope of its
 * own whose parser reads nothing. The application's routes and parsers stay as they are, and the receiver stays the
 * application's: it closes it.
 * Without a receiver the start of Fastify fails.
 */
export function oncehook(scope: FastifyScope, options: OncehookFastifyOptions, done: (error?: Error) => void): void {
  try {
    mount(scope, options.receiver);
    done();
  } catch (error) {
    // An exception would end the process: Fastify loads its plugins later.
    done(error as Error);
  }
}

function mount(scope: FastifyScope, receiver: Receiver): void {
  const { paths, originOf } = applicationReceiver(receiver, "app.register(oncehook, { receiver })");
  const { prefix } = scope;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _payload, ready) => ready(null));
  const answer = (request: FastifyRequest, reply: FastifyReply, above: string) => {
    const { raw, ip, protocol, originalUrl } = request;
    reply.hijack();
    const origin = readOriginOf(originOf, { address: ip, protocol, headers: raw.headers });
    const exchange = new ApplicationExchange(raw, reply.raw, { originOf: () => origin, target: originalUrl });
    exchange.takeMountedPath(pathOf(raw.url ?? "").slice(above.length));
    if (receiver.handle(exchange)) exchange.hold();
    else respondNotFound(exchange);
  };
  for (const path of paths) {
    const isOfBaseUrl = path.startsWith(`${prefix}/`);
    const above = isOfBaseUrl ? "" : prefix;
    const route = isOfBaseUrl ? path.slice(prefix.length) : path;
    const handler = (request: FastifyRequest, reply: FastifyReply) => answer(request, reply, above);
    scope.all(route, handler);
    try {
      // Its response, and its log entry, name the right address.
      scope.all(`${route}/`, handler);
    } catch (error) {
      // With `ignoreTrailingSlash` it is the same route.
      if ((error as NodeJS.ErrnoException).code !== "FST_ERR_DUPLICATED_ROUTE") throw error;
    }
  }
}
