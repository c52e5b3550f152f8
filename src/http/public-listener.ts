import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type FaultCode, failed, type Outcome, refused } from "../domain/index.ts";
import type { Places } from "../receive/index.ts";
import type { Addresses } from "./addresses.ts";
import { type ClientErrors, createClientErrors } from "./client-error.ts";
import { type Concluder, createConcluder } from "./conclude.ts";
import { createDoorway } from "./doorway.ts";
import { passGate } from "./gate.ts";
import { doneRoute, redirectRoute, startRoute } from "./oauth-routes.ts";
import type { PublicDeps } from "./public-deps.ts";
import { normalAddress } from "./remote-address.ts";
import { callbackRoute } from "./routes.ts";
import type { TlsPair } from "./tls.ts";
import { createTurningAway, type TurningAway } from "./turning-away.ts";

export interface PublicOptions {
  readonly addresses: Addresses;
  readonly trustProxy: readonly string[];
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly tls: TlsPair | null;
}

const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_CONNECTIONS_EVERY_MS = 2_000;
/** Longer than a proxy keeps an idle connection (nginx: 60 s), so that the proxy is the one to close it. */
const KEEP_ALIVE_MS = 72_000;

/** The listener that platforms call: callbacks and OAuth redirects, and nothing else. */
export function createPublicListener(options: PublicOptions, deps: PublicDeps): FastifyInstance {
  const clientErrors = createClientErrors(deps);
  const concluder = createConcluder(deps);
  const doorway = createDoorway();
  const turningAway = createTurningAway();
  const served = servedAddresses(options.addresses);
  const app = createServer(options, clientErrors, async (request, reply) => {
    note(request, reply, false, deps);
    const refusal = await pass(request, reply, deps);
    await concluder.conclude(request, reply, { outcome: refusal ?? refused("malformed_request") });
  });

  app.server.on("connection", () => doorway.arrived());
  // The bytes are what is signed, so every content type is taken as bytes, a malformed one too.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request, reply) => {
    request.raw.headers["content-type"] = "application/octet-stream";
    clientErrors.begun(request.raw.socket);
    const address = served.get(request.url.split("?", 1)[0] ?? "");
    note(request, reply, address?.isCallback ?? false, deps);
    if (doorway.clear !== undefined) await doorway.clear;
    const refusal = await arrive(request, reply, address, turningAway, deps);
    if (refusal !== undefined) return concluder.conclude(request, reply, { outcome: refusal });
  });
  app.addHook("onResponse", async (request) => clientErrors.ended(request.raw.socket));
  app.setNotFoundHandler((request, reply) =>
    concluder.conclude(request, reply, { outcome: refused("not_found") }),
  );
  app.setErrorHandler((error, request, reply) =>
    concluder.conclude(request, reply, {
      outcome: outcomeOf(error, clientErrors.codeFor(request.raw.socket)),
    }),
  );
  registerRoutes(app, options, deps, concluder);
  return app;
}

/** @param onMalformed answers an address that cannot be decoded, which Fastify finds before any hook */
function createServer(
  { tls, trustProxy, maxBodyBytes, requestTimeoutMs }: PublicOptions,
  clientErrors: ClientErrors,
  onMalformed: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): FastifyInstance {
  const common = {
    logger: false,
    // Fastify believes X-Forwarded-For and X-Forwarded-Proto only from these addresses, read from the right.
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: clientErrors.answer,
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      onMalformed(request, reply).catch(() => reply.raw.destroy());
    },
  } as const;
  const server = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY_MS,
  };
  return tls === null
    ? Fastify({ ...common, http: server })
    : (Fastify({
        ...common,
        https: { ...server, ...tls, minVersion: "TLSv1.2" },
      }) as unknown as FastifyInstance);
}

/** Phase (a), then whether the address and the method are ones that are served. */
async function arrive(
  request: FastifyRequest,
  reply: FastifyReply,
  address: Served | undefined,
  turningAway: TurningAway,
  deps: PublicDeps,
): Promise<Outcome | undefined> {
  const refusal = await pass(request, reply, deps);
  if (refusal !== undefined) return refusal;
  if (address === undefined) return refused("not_found");
  // A code stands in these addresses, and must not travel on with a link.
  if (address.isOAuth) reply.header("referrer-policy", "no-referrer");
  // Answered before the body: what nobody will read need not be received.
  if (!address.methods.includes(request.method))
    return refused("method_not_allowed", { allow: address.methods.join(", ") });
  // A browser is told by the route, in a page.
  return address.isOAuth ? undefined : overload(deps.receiver.places, turningAway);
}

/** Before the body, so that it costs next to nothing, and tells nothing of whether the callback is authentic. */
async function overload(places: Places, turningAway: TurningAway): Promise<Outcome | undefined> {
  if (places.refusal() === undefined) return undefined;
  await turningAway.next();
  return places.refusal();
}

interface Served {
  readonly methods: readonly string[];
  /** Logged, counted and limited as one; the others are pages and starts of flows. */
  readonly isCallback: boolean;
  readonly isOAuth: boolean;
}

function servedAddresses({ callbacks, redirect, start, done }: Addresses): Map<string, Served> {
  const served = new Map<string, Served>();
  for (const { path } of callbacks) served.set(path, { methods: ["POST"], isCallback: true, isOAuth: false });
  served.set(redirect, { methods: ["GET", "POST"], isCallback: true, isOAuth: true });
  for (const path of [start, done])
    if (path !== undefined) served.set(path, { methods: ["GET"], isCallback: false, isOAuth: true });
  return served;
}

/** Notes the facts of a request as soon as it is seen: whatever it waits for afterwards counts as its time. */
function note(
  request: FastifyRequest,
  reply: FastifyReply,
  isCallback: boolean,
  { clock, tls }: PublicDeps,
): void {
  request.facts = {
    requestId: randomUUID(),
    receivedAt: clock.now(),
    startedAt: performance.now(),
    address: normalAddress(request.ip),
    isCallback,
  };
  reply.headers({
    "x-request-id": request.facts.requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  if (tls) reply.header("strict-transport-security", "max-age=31536000");
}

/** Phase (a): returns why a request may not pass, if so. */
async function pass(
  request: FastifyRequest,
  reply: FastifyReply,
  { gate }: PublicDeps,
): Promise<Outcome | undefined> {
  const { address, isCallback } = request.facts;
  const contentEncoding = request.headers["content-encoding"];
  const passage = await passGate({ address, protocol: request.protocol, contentEncoding, isCallback }, gate);
  reply.headers(passage.headers);
  return passage.refusal;
}

/**
 * What Fastify itself refuses while it receives the body; anything else is a fault of ours.
 * @param answered what was said on the socket already, where the body did not arrive in time
 */
function outcomeOf(error: unknown, answered: FaultCode | undefined): Outcome {
  if (answered !== undefined) return refused(answered);
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return refused("body_too_large");
  if (typeof statusCode === "number" && statusCode < 500) return refused("malformed_request");
  return failed("internal", error);
}

function registerRoutes(
  app: FastifyInstance,
  options: PublicOptions,
  deps: PublicDeps,
  concluder: Concluder,
): void {
  const { callbacks, redirect, start, done } = options.addresses;
  for (const { path, version } of callbacks) {
    app.post(path, callbackRoute(version, options.requestTimeoutMs, deps, concluder));
  }
  const redirected = redirectRoute(options.requestTimeoutMs, deps, concluder);
  app.get(redirect, redirected);
  app.post(redirect, redirected);
  if (start !== undefined) app.get(start, startRoute(deps, concluder));
  app.get(done, doneRoute());
}
