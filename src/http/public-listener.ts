import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type ReceiveDependencies, RequestSequence, type RouteOptions, UnverifiedBodies } from "../receive/index.ts";
import { createAllowList, LinkedList, normalAddress } from "../system/index.ts";
import { createAcceptGate, createUnverifiedThrottle } from "./accept-gate.ts";
import { createClientErrors } from "./client-error.ts";
import { guardConnections } from "./connection-guard.ts";
import { type ConnectionLimit, createConnectionLimit } from "./connection-limit.ts";
import { createReadOrigin, NodeExchange } from "./exchange/index.ts";
import type { TlsPair } from "./tls.ts";

export interface PublicListenerOptions extends RouteOptions {
  readonly trustProxy: readonly string[];
  /** At least `maxBodyBytes`, and that of each source. */
  readonly maxUnverifiedBytes: number;
  readonly connections: { readonly max: number; readonly maxPerAddress: number };
  readonly tls: TlsPair | null;
}

export type Listener = ReturnType<typeof createPublicListener>;

const HEADERS_TIMEOUT_MS = 10_000;
/** A response of this listener is small: even a slow line takes it in a moment. */
const WRITE_TIMEOUT_MS = 10_000;
const CHECK_CONNECTIONS_EVERY_MS = 2_000;
/** Longer than a proxy keeps an idle connection (nginx: 60 s), so that the proxy closes it first. */
const KEEP_ALIVE_MS = 72_000;
/** The time that a request under way may take to arrive during a stop. */
const STOP_GRACE_MS = 2_000;

/**
 * The listener that platforms call: callbacks and OAuth redirects, and nothing else. It stands on `node:http` itself,
 * since a refusal costs half of what it costs behind a framework (decision 0021).
 */
export function createPublicListener(options: PublicListenerOptions, deps: ReceiveDependencies) {
  const acceptGate = createAcceptGate();
  const clientErrors = createClientErrors(deps);
  const ofSources = [...(options.sourceBounds?.values() ?? [])].map(({ maxBodyBytes = 0 }) => maxBodyBytes);
  const unverified = new UnverifiedBodies(options.maxUnverifiedBytes, Math.max(options.maxBodyBytes, ...ofSources));
  const connections = connectionLimit(options, unverified, deps);
  const throttle = createUnverifiedThrottle(connections, acceptGate);
  const exchanges = { originOf: createReadOrigin(options.trustProxy), throttle, clientErrors };
  const requests = new RequestSequence(options, deps, unverified);
  const stopGraceMs = Math.min(STOP_GRACE_MS, options.requestTimeoutMs);
  const inFlight = new LinkedList<ServerResponse>();
  const server = createServer(options, (message, response) => {
    clientErrors.requestStarted(message.socket);
    const entry = inFlight.add(response);
    response.on("close", () => {
      inFlight.remove(entry);
      clientErrors.requestEnded(message.socket);
    });
    // After the listener has closed, no request on a kept connection would be accepted.
    if (!server.listening) response.shouldKeepAlive = false;
    requests.start(new NodeExchange(message, response, exchanges), acceptGate.quiet);
  });
  server.on("connection", (socket) => {
    acceptGate.connectionAccepted();
    connections.accepted(socket);
  });
  server.on("secureConnection", connections.secured);
  server.on("clientError", clientErrors.respond);
  const guard = guardConnections(server, {
    limit: connections,
    writeTimeoutMs: WRITE_TIMEOUT_MS,
    report: (reason, closed) =>
      deps.receiver.log.warn({ closed }, `connections to the public listener were closed: ${reason}`),
  });
  const endUnfinished = (): void => {
    connections.closeAllIdle();
    while (unverified.endOldest());
  };
  return {
    server,
    listen(where: { readonly host: string; readonly port: number }): Promise<unknown> {
      server.listen(where);
      return once(server, "listening");
    },
    async close(): Promise<void> {
      if (!server.listening) return;
      // They would stay for ever.
      deps.capture?.buffer.end();
      server.close();
      // Their clients must send nothing more over connections that are about to close.
      for (const response of inFlight) response.shouldKeepAlive = false;
      // Node's time limits for requests have ended with `server.close()`.
      const late = setInterval(endUnfinished, stopGraceMs);
      await once(server, "close");
      clearInterval(late);
      // Deliveries whose clients have gone.
      await deps.receiver.concurrency.idle();
      connections.close();
      guard.close();
    },
  };
}

function connectionLimit(
  { connections, trustProxy }: PublicListenerOptions,
  unverified: UnverifiedBodies,
  { receiver: { log } }: ReceiveDependencies,
): ConnectionLimit {
  const isProxy = createAllowList(trustProxy);
  return createConnectionLimit({
    limits: { ...connections, isProxy: (address) => isProxy(normalAddress(address)) },
    endOldestBody: (address) => unverified.endOldest(address),
    report(closed) {
      const bounds = { max_connections: connections.max, max_connections_per_address: connections.maxPerAddress };
      const reason = "MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached";
      log.warn({ closed, ...bounds }, `connections to the public listener were closed: ${reason}`);
    },
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
    : createHttpsServer({ ...limits, ...tls, handshakeTimeout: limits.headersTimeout, minVersion: "TLSv1.2" }, serve);
}
