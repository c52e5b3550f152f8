import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { failed, isRefused, type Outcome, refused } from "../domain/index.ts";
import type { Places } from "../receive/index.ts";
import type { ArrivedRequest } from "../trace/index.ts";
import type { Addresses } from "./addresses.ts";
import { type ClientErrors, createClientErrors } from "./client-error.ts";
import { createConcluder, type Render } from "./conclude.ts";
import { CLOSED_FOR, guardConnections } from "./connection-guard.ts";
import { type ConnectionLimit, type ConnectionLimits, createConnectionLimit } from "./connection-limit.ts";
import { createDoorway } from "./doorway.ts";
import { passGate } from "./gate.ts";
import { createOrigin, type Incoming, incoming } from "./incoming.ts";
import type { PublicDeps } from "./public-deps.ts";
import { type NotTaken, type ReceivedBody, receiveBody } from "./receive-body.ts";
import { createAllowList, normalAddress, rateKey } from "./remote-address.ts";
import { type Served, servedAddresses } from "./routes.ts";
import type { TlsPair } from "./tls.ts";
import { createTurningAway, createUnverifiedTurns, type TurningAway } from "./turning-away.ts";
import { createUnverifiedBodies, type UnverifiedBodies } from "./unverified-bodies.ts";

export interface PublicOptions {
  readonly addresses: Addresses;
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
export function createPublicListener(options: PublicOptions, deps: PublicDeps): Listener {
  const clientErrors = createClientErrors(deps);
  const concluder = createConcluder(deps);
  const doorway = createDoorway();
  const turningAway = createTurningAway();
  const served = servedAddresses(options.addresses, options.requestTimeoutMs, deps, concluder);
  const unverified = createUnverifiedBodies(options.maxUnverifiedBytes, options.maxBodyBytes);
  const connections = connectionLimit(options, unverified, deps);
  const turns = createUnverifiedTurns(connections, doorway);
  const arrival = { clock: deps.clock, originOf: createOrigin(options.trustProxy), turns };
  const underWay = new Set<ServerResponse>();
  const server = createServer(options, (message, response) => {
    clientErrors.begun(message.socket);
    underWay.add(response);
    response.once("close", () => {
      underWay.delete(response);
      clientErrors.ended(message.socket);
    });
    // A connection that stays open after the listener was closed would wait for a request that nobody takes.
    if (!server.listening) response.shouldKeepAlive = false;
    serve(message, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    doorway.arrived();
    connections.accepted(socket);
  });
  server.on("secureConnection", connections.secured);
  server.on("clientError", clientErrors.answer);
  const guard = guardConnections(server, {
    limit: connections,
    writeTimeoutMs: options.writeTimeoutMs ?? WRITE_TIMEOUT_MS,
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
      deps.heard?.hearing.end();
      server.close();
      // Their clients must send nothing more over connections that are about to close.
      for (const response of underWay) response.shouldKeepAlive = false;
      await once(server, "close");
      connections.close();
      guard.close();
    },
  };

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ""] = (message.url ?? "").split("?", 1);
    const address = served.get(path);
    const request = incoming(message, response, address?.isCallback ?? false, arrival);
    request.phase = request.isCallback ? deps.receiver.tracer?.request(arrivedOf(request, path)) : undefined;
    if (request.phase === undefined) await take(request, address);
    else await request.phase.within(() => take(request, address));
  }

  async function take(request: Incoming, address: Served | undefined): Promise<void> {
    try {
      if (doorway.clear !== undefined) await doorway.clear;
      const refusal = await arrive(request, address, turningAway, deps);
      if (refusal !== undefined)
        return concluder.conclude(request, { outcome: refusal }, pageOf(refusal, address));
      const most = Math.min(options.maxBodyBytes, address?.mostBytes ?? options.maxBodyBytes);
      const notTaken = await takeBody(request, most, unverified, clientErrors);
      if (notTaken !== undefined) return concluder.conclude(request, { outcome: notTaken });
      await address?.route(request);
    } catch (error) {
      concluder.conclude(request, { outcome: failed("internal", error) });
    } finally {
      request.verified();
    }
  }
}

function connectionLimit(
  { connections, trustProxy }: PublicOptions,
  { endOldest }: UnverifiedBodies,
  { log }: PublicDeps,
): ConnectionLimit {
  const isProxy = trustProxy.length === 0 ? () => false : createAllowList(trustProxy);
  return createConnectionLimit({
    limits: { ...connections, isProxy: (address) => isProxy(normalAddress(address)) },
    endOldestBody: endOldest,
    report: (closed) =>
      log.warn(
        {
          closed,
          max_connections: connections.most,
          max_connections_per_address: connections.mostPerAddress,
        },
        "connections to the public listener were closed: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached",
      ),
  });
}

function createServer(
  { tls, requestTimeoutMs }: PublicOptions,
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
function arrivedOf({ method, message, protocol, address, headers }: Incoming, route: string): ArrivedRequest {
  return { method, route, protocol, httpVersion: message.httpVersion, address, headers };
}

/** Phase (a), then whether the address and the method are ones that are served: why it is not, if so. */
async function arrive(
  request: Incoming,
  address: Served | undefined,
  turningAway: TurningAway,
  { gate, tls, receiver }: PublicDeps,
): Promise<Outcome | undefined> {
  const { answerHeaders, protocol, isCallback } = request;
  if (tls) answerHeaders["strict-transport-security"] = "max-age=31536000";
  const contentEncoding = request.headers["content-encoding"];
  const arrival = { address: request.address, protocol, contentEncoding, isCallback };
  const { headers, refusal } = await passGate(arrival, gate);
  Object.assign(answerHeaders, headers);
  if (refusal !== undefined) return refusal;
  if (address === undefined) return refused("not_found");
  // A code stands in these addresses, and must not travel on with a link.
  if (address.isOAuth) answerHeaders["referrer-policy"] = "no-referrer";
  // Answered before the body: what nobody will read need not be received.
  if (!address.methods.includes(request.method))
    return refused("method_not_allowed", { allow: address.methods.join(", ") });
  return address.isWork ? overload(receiver.places, turningAway) : undefined;
}

/** A browser gets its 503 in a page. */
function pageOf(refusal: Outcome, address: Served | undefined): { readonly render: Render } | undefined {
  const render = refusal.ending === "failed" ? address?.render : undefined;
  return render === undefined ? undefined : { render };
}

/** Before the body, so that it costs next to nothing, and tells nothing of whether the callback is authentic. */
async function overload(places: Places, turningAway: TurningAway): Promise<Outcome | undefined> {
  if (places.refusal() === undefined) return undefined;
  await turningAway.next();
  return places.refusal();
}

/** The body of a method that has one; where it did not arrive in time, what was said on the socket already. */
async function takeBody(
  request: Incoming,
  most: number,
  unverified: UnverifiedBodies,
  clientErrors: ClientErrors,
): Promise<NotTaken | undefined> {
  const { method, message, address, answerHeaders } = request;
  if (method === "GET") return undefined;
  const received = await receiveBody(message, { most, address: rateKey(address), unverified });
  if (isReceived(received)) {
    request.body = received.bytes;
    request.verified = received.release;
    return undefined;
  }
  // What is left of the body is not read.
  answerHeaders.connection = "close";
  const answered = isRefused(received) ? clientErrors.codeFor(message.socket) : undefined;
  return answered === undefined ? received : refused(answered);
}

function isReceived(received: ReceivedBody | NotTaken): received is ReceivedBody {
  return "bytes" in received;
}
