import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { failed, isRefused, type Outcome, refused } from "../domain/index.ts";
import { type ConcurrencyLimit, whenReady } from "../pipeline/index.ts";
import {
  type AcceptGate,
  type Admission,
  admitRequest,
  createAcceptGate,
  createRejectionThrottle,
  createUnverifiedTurns,
  type RejectionThrottle,
  type UnverifiedTurns,
} from "./admission.ts";
import { type ClientErrors, createClientErrors } from "./client-error.ts";
import { CLOSED_FOR, guardConnections } from "./connection-guard.ts";
import { type ConnectionLimit, type ConnectionLimits, createConnectionLimit } from "./connection-limit.ts";
import type { PublicDependencies } from "./public-dependencies.ts";
import { type BodyRejection, type ReceivedBody, readRequestBody } from "./read-request-body.ts";
import { createAllowList, normalAddress, rateKey } from "./remote-address.ts";
import {
  type Arrival,
  createReadOrigin,
  createRequestContext,
  type RequestContext,
} from "./request-context.ts";
import { createResponder, type Render, type Responder } from "./responder.ts";
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
  const acceptGate = createAcceptGate();
  const clientErrors = createClientErrors(deps);
  const unverified = createUnverifiedBodies(options.maxUnverifiedBytes, options.maxBodyBytes);
  const connections = connectionLimit(options, unverified, deps);
  const turns = createUnverifiedTurns(connections, acceptGate);
  const requests = new RequestSequence(options, deps, { acceptGate, clientErrors, unverified, turns });
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
    requests.start(message, response);
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
}

/** What bounds the requests of a listener. */
interface RequestBounds {
  readonly acceptGate: AcceptGate;
  readonly clientErrors: ClientErrors;
  readonly unverified: UnverifiedBodies;
  readonly turns: UnverifiedTurns;
}

/** SPEC 1.7 (a): a request from its head to its body, and on to its route. It waits only for what is not there yet. */
class RequestSequence {
  readonly #maxBodyBytes: number;
  readonly #deps: PublicDependencies;
  readonly #bounds: RequestBounds;
  readonly #responder: Responder;
  readonly #throttle = createRejectionThrottle();
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #arrival: Arrival;

  constructor(options: PublicListenerOptions, deps: PublicDependencies, bounds: RequestBounds) {
    const { addresses, requestTimeoutMs, trustProxy, maxBodyBytes } = options;
    this.#maxBodyBytes = maxBodyBytes;
    this.#deps = deps;
    this.#bounds = bounds;
    this.#responder = createResponder(deps);
    this.#routes = createRoutes(addresses, requestTimeoutMs, deps, this.#responder);
    const { tracer } = deps.receiver;
    this.#arrival = {
      clock: deps.clock,
      originOf: createReadOrigin(trustProxy),
      turns: bounds.turns,
      tracer,
    };
  }

  start(message: IncomingMessage, response: ServerResponse): void {
    const [path = ""] = (message.url ?? "").split("?", 1);
    const route = this.#routes.get(path);
    const request = createRequestContext(
      message,
      response,
      route?.isCallback ? path : undefined,
      this.#arrival,
    );
    const begin = guarded(request, () => this.#admit(request, route), this.#fail(request));
    const { quiet } = this.#bounds.acceptGate;
    if (quiet === undefined) begin();
    else void quiet.then(begin);
  }

  #admit(request: RequestContext, route: Route | undefined): void {
    const admitted = (outcome: Outcome | undefined): void => {
      if (outcome !== undefined) this.#responder.respond(request, { outcome }, pageOf(outcome, route));
      else if (request.method === "GET") this.#handle(request, route);
      else this.#receive(request, route);
    };
    whenReady(admit(request, route, this.#throttle, this.#deps), admitted, this.#fail(request));
  }

  #receive(request: RequestContext, route: Route | undefined): void {
    const maxBytes = Math.min(this.#maxBodyBytes, route?.maxBytes ?? this.#maxBodyBytes);
    const limits = { maxBytes, address: rateKey(request.address), unverified: this.#bounds.unverified };
    const received = (body: ReceivedBody | BodyRejection): void => {
      if (!("bytes" in body)) return this.#rejectBody(request, body);
      request.body = body.bytes;
      request.onVerified = body.release;
      this.#handle(request, route);
    };
    readRequestBody(request.message, limits, guarded(request, received, this.#fail(request)));
  }

  #handle(request: RequestContext, route: Route | undefined): void {
    whenReady(route?.handle(request), () => {}, this.#fail(request));
  }

  #rejectBody(request: RequestContext, rejection: BodyRejection): void {
    // What is left of the body is not read.
    request.responseHeaders.connection = "close";
    // Where it did not arrive in time, the response stands on the socket already.
    const code = isRefused(rejection) ? this.#bounds.clientErrors.codeFor(request.message.socket) : undefined;
    this.#responder.respond(request, { outcome: code === undefined ? rejection : refused(code) });
  }

  #fail(request: RequestContext): (error: unknown) => void {
    return (error) => {
      request.onVerified();
      this.#responder.respond(request, { outcome: failed("internal", error) });
    };
  }
}

/** Runs a listener of the request in the request's context; an error becomes its response. */
function guarded<Args extends readonly unknown[]>(
  { inContext }: RequestContext,
  run: (...args: Args) => void,
  fail: (error: unknown) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      inContext(() => run(...args));
    } catch (error) {
      fail(error);
    }
  };
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

/** Why the request is not admitted, before its body. A promise where a rate limit has to be counted, or it has to wait. */
function admit(
  request: RequestContext,
  route: Route | undefined,
  throttle: RejectionThrottle,
  { admission, tls, receiver }: PublicDependencies,
): Outcome | undefined | Promise<Outcome | undefined> {
  const { responseHeaders, protocol, isCallback, address } = request;
  if (tls) responseHeaders["strict-transport-security"] = "max-age=31536000";
  const contentEncoding = request.headers["content-encoding"];
  const admitted = admitRequest({ address, protocol, contentEncoding, isCallback }, admission);
  const toRoute = ({ headers, refusal }: Admission) => {
    Object.assign(responseHeaders, headers);
    return refusal ?? admitToRoute(request, route, receiver.concurrency, throttle);
  };
  return admitted instanceof Promise ? admitted.then(toRoute) : toRoute(admitted);
}

/** Responds before the body where that will not be read. */
function admitToRoute(
  { method, responseHeaders }: RequestContext,
  route: Route | undefined,
  concurrency: ConcurrencyLimit,
  throttle: RejectionThrottle,
): Outcome | undefined | Promise<Outcome | undefined> {
  if (route === undefined) return refused("not_found");
  // A code stands in these addresses, and must not travel on with a link.
  if (route.isOAuth) responseHeaders["referrer-policy"] = "no-referrer";
  if (!route.methods.includes(method))
    return refused("method_not_allowed", { allow: route.methods.join(", ") });
  // It costs next to nothing here, and tells nothing of whether the callback is authentic.
  if (!route.isConcurrencyLimited || concurrency.overload() === undefined) return undefined;
  const waiting = throttle.wait();
  return waiting === undefined ? concurrency.overload() : waiting.then(() => concurrency.overload());
}

/** A browser gets its 503 in a page. */
function pageOf(refusal: Outcome, address: Route | undefined): { readonly render: Render } | undefined {
  const render = refusal.kind === "failed" ? address?.render : undefined;
  return render === undefined ? undefined : { render };
}
