import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { failed, isRefused, type Outcome, refused } from "../domain/index.ts";
import type { RequestInfo } from "../observability/tracing/index.ts";
import type { ConcurrencyLimit } from "../pipeline/index.ts";
import {
  admitRequest,
  createAcceptGate,
  createRejectionThrottle,
  createUnverifiedTurns,
  type RejectionThrottle,
} from "./admission.ts";
import { type ClientErrors, createClientErrors } from "./client-error.ts";
import { CLOSED_FOR, guardConnections } from "./connection-guard.ts";
import { type ConnectionLimit, type ConnectionLimits, createConnectionLimit } from "./connection-limit.ts";
import type { PublicDependencies } from "./public-dependencies.ts";
import { type BodyRejection, type ReceivedBody, readRequestBody } from "./read-request-body.ts";
import { createAllowList, normalAddress, rateKey } from "./remote-address.ts";
import { createReadOrigin, createRequestContext, type RequestContext } from "./request-context.ts";
import { createResponder, type Render } from "./responder.ts";
import type { EndpointPaths } from "./routes.ts";
import { createRoutes, type Route } from "./routes.ts";
import type { TlsPair } from "./tls.ts";
import { createUnverifiedBodies, type UnverifiedBodies } from "./unverified-bodies.ts";

export interface PublicListenerOptions {
  readonly addresses: EndpointPaths;
  readonly trustProxy: readonly string[];
  readonly maxBodyBytes: number;
  /** At least `maxBodyBytes`. */
  readonly maxUnverifiedBytes: number;
  readonly connections: Omit<ConnectionLimits, "isProxy">;
  readonly requestTimeoutMs: number;
  readonly tls: TlsPair | null;
  /** 10 s unless given. */
  readonly writeTimeoutMs?: number;
}

/** What listens, and can be closed: what is under way may end. */
export interface Listener {
  readonly server: Server;
  listen(where: { readonly host: string; readonly port: number }): Promise<unknown>;
  close(): Promise<unknown>;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** An answer of this listener is small: even a slow line takes it in a moment. */
const WRITE_TIMEOUT_MS = 10_000;
const CHECK_CONNECTIONS_EVERY_MS = 2_000;
/** Longer than a proxy keeps an idle connection (nginx: 60 s), so that the proxy is the one to close it. */
const KEEP_ALIVE_MS = 72_000;

/**
 * The listener that platforms call: callbacks and OAuth redirects, and nothing else. It stands on `node:http` itself,
 * since a refusal costs half of what it costs behind a framework (decision 0021).
 */
export function createPublicListener(options: PublicListenerOptions, deps: PublicDependencies): Listener {
  const clientErrors = createClientErrors(deps);
  const responder = createResponder(deps);
  const acceptGate = createAcceptGate();
  const rejectionThrottle = createRejectionThrottle();
  const routes = createRoutes(options.addresses, options.requestTimeoutMs, deps, responder);
  const unverified = createUnverifiedBodies(options.maxUnverifiedBytes, options.maxBodyBytes);
  const connections = connectionLimit(options, unverified, deps);
  const turns = createUnverifiedTurns(connections, acceptGate);
  const arrival = { clock: deps.clock, originOf: createReadOrigin(options.trustProxy), turns };
  const writeTimeoutMs = options.writeTimeoutMs ?? WRITE_TIMEOUT_MS;
  const inFlight = new Set<ServerResponse>();
  const server = createServer(options, (message, response) => {
    clientErrors.requestStarted(message.socket);
    inFlight.add(response);
    response.once("close", () => {
      inFlight.delete(response);
      clientErrors.requestEnded(message.socket);
    });
    // A connection that stays open after the listener was closed would wait for a request that nobody takes.
    if (!server.listening) response.shouldKeepAlive = false;
    serve(message, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    acceptGate.connectionAccepted();
    connections.accepted(socket);
  });
  server.on("secureConnection", connections.secured);
  server.on("clientError", clientErrors.respond);
  const guard = guardConnections(server, {
    limit: connections,
    writeTimeoutMs,
    report: (reason, closed) =>
      deps.log.warn({ closed }, `connections to the public listener were closed: ${CLOSED_FOR[reason]}`),
  });
  return {
    server,
    listen(where) {
      server.listen(where);
      return once(server, "listening");
    },
    async close() {
      if (!server.listening) return;
      // They would stay for ever.
      deps.capture?.buffer.end();
      server.close();
      // Their clients must send nothing more over connections that are about to close.
      for (const response of inFlight) response.shouldKeepAlive = false;
      await once(server, "close");
      connections.close();
      guard.close();
    },
  };

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ""] = (message.url ?? "").split("?", 1);
    const address = routes.get(path);
    const request = createRequestContext(message, response, address?.isCallback ?? false, arrival);
    if (request.isCallback) request.span = deps.receiver.tracer?.startRequest(requestInfo(request, path));
    if (request.span === undefined) await handle(request, address);
    else await request.span.within(() => handle(request, address));
  }

  async function handle(request: RequestContext, address: Route | undefined): Promise<void> {
    try {
      if (acceptGate.quiet !== undefined) await acceptGate.quiet;
      const outcome = await admit(request, address, rejectionThrottle, deps);
      if (outcome !== undefined) return responder.respond(request, { outcome }, pageOf(outcome, address));
      const most = Math.min(options.maxBodyBytes, address?.maxBytes ?? options.maxBodyBytes);
      const notTaken = await readBody(request, most, unverified, clientErrors);
      if (notTaken !== undefined) return responder.respond(request, { outcome: notTaken });
      await address?.handle(request);
    } catch (error) {
      responder.respond(request, { outcome: failed("internal", error) });
    } finally {
      request.onVerified();
    }
  }
}

function connectionLimit(
  { connections, trustProxy }: PublicListenerOptions,
  { endOldest }: UnverifiedBodies,
  { log }: PublicDependencies,
): ConnectionLimit {
  const isProxy = trustProxy.length === 0 ? () => false : createAllowList(trustProxy);
  return createConnectionLimit({
    limits: { ...connections, isProxy: (address) => isProxy(normalAddress(address)) },
    endOldestBody: endOldest,
    report: (closed) =>
      log.warn(
        {
          closed,
          max_connections: connections.max,
          max_connections_per_address: connections.maxPerAddress,
        },
        "connections to the public listener were closed: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached",
      ),
  });
}

function createServer(
  { tls, requestTimeoutMs }: PublicListenerOptions,
  serve: (message: IncomingMessage, response: ServerResponse) => void,
): Server {
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY_MS,
  };
  return tls === null
    ? createHttpServer(limits, serve)
    : createHttpsServer(
        { ...limits, ...tls, handshakeTimeout: limits.headersTimeout, minVersion: "TLSv1.2" },
        serve,
      );
}

/** What a trace tells of a request; `route` is its path, and never its query. */
function requestInfo(
  { method, message, protocol, address, headers }: RequestContext,
  route: string,
): RequestInfo {
  return { method, route, protocol, httpVersion: message.httpVersion, address, headers };
}

/** Phase (a), then whether the address and the method are ones that are served: why it is not, if so. */
async function admit(
  request: RequestContext,
  address: Route | undefined,
  throttle: RejectionThrottle,
  { admission, tls, receiver }: PublicDependencies,
): Promise<Outcome | undefined> {
  const { responseHeaders, protocol, isCallback } = request;
  if (tls) responseHeaders["strict-transport-security"] = "max-age=31536000";
  const contentEncoding = request.headers["content-encoding"];
  const arrival = { address: request.address, protocol, contentEncoding, isCallback };
  const { headers, refusal } = await admitRequest(arrival, admission);
  Object.assign(responseHeaders, headers);
  if (refusal !== undefined) return refusal;
  if (address === undefined) return refused("not_found");
  // A code stands in these addresses, and must not travel on with a link.
  if (address.isOAuth) responseHeaders["referrer-policy"] = "no-referrer";
  // Answered before the body: what nobody will read need not be received.
  if (!address.methods.includes(request.method))
    return refused("method_not_allowed", { allow: address.methods.join(", ") });
  return address.isConcurrencyLimited ? overload(receiver.concurrency, throttle) : undefined;
}

/** A browser gets its 503 in a page. */
function pageOf(refusal: Outcome, address: Route | undefined): { readonly render: Render } | undefined {
  const render = refusal.kind === "failed" ? address?.render : undefined;
  return render === undefined ? undefined : { render };
}

/** Before the body, so that it costs next to nothing, and tells nothing of whether the callback is authentic. */
async function overload(
  concurrency: ConcurrencyLimit,
  throttle: RejectionThrottle,
): Promise<Outcome | undefined> {
  if (concurrency.overload() === undefined) return undefined;
  await throttle.wait();
  return concurrency.overload();
}

/** The body of a method that has one; where it did not arrive in time, what was said on the socket already. */
async function readBody(
  request: RequestContext,
  most: number,
  unverified: UnverifiedBodies,
  clientErrors: ClientErrors,
): Promise<BodyRejection | undefined> {
  const { method, message, address, responseHeaders } = request;
  if (method === "GET") return undefined;
  const received = await readRequestBody(message, { maxBytes: most, address: rateKey(address), unverified });
  if (isReceived(received)) {
    request.body = received.bytes;
    request.onVerified = received.release;
    return undefined;
  }
  // What is left of the body is not read.
  responseHeaders.connection = "close";
  const answered = isRefused(received) ? clientErrors.codeFor(message.socket) : undefined;
  return answered === undefined ? received : refused(answered);
}

function isReceived(received: ReceivedBody | BodyRejection): received is ReceivedBody {
  return "bytes" in received;
}
