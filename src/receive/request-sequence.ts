import {
  callOnce,
  createSparingLog,
  errorReason,
  failed,
  isRefused,
  type Outcome,
  pathOf,
  type Refused,
  refused,
  type SparingLog,
  tenantSource,
} from "../domain/index.ts";
import type { ConcurrencyLimit } from "../pipeline/index.ts";
import { rateKey, TokenBucket } from "../system/index.ts";
import type { AdmissionSettings, ReceiveDependencies } from "./dependencies.ts";
import type { Exchange } from "./exchange.ts";
import { applyRateLimits, type Policy } from "./rate-limit.ts";
import { type BodyFault, readRequestBody } from "./read-request-body.ts";
import { createRequestContext, type RequestContext } from "./request-context.ts";
import { createResponder, type Responder } from "./responder.ts";
import { createRoutes, type Route, type RouteOptions, type Routes } from "./routes.ts";
import type { UnverifiedBodies } from "./unverified-bodies.ts";

/** SPEC 1.7 (a): a request from its head to its body, and on to its route. It waits only for what is not there yet. */
export class RequestSequence {
  readonly #maxBodyBytes: number;
  readonly #deps: ReceiveDependencies;
  readonly #unverified: UnverifiedBodies;
  readonly #responder: Responder;
  readonly #throttle = createOverloadThrottle();
  readonly #noteUncounted: () => void;
  readonly #sparing: SparingLog;
  readonly #routes: Routes;

  constructor(options: RouteOptions, deps: ReceiveDependencies, unverified: UnverifiedBodies) {
    this.#maxBodyBytes = options.maxBodyBytes;
    this.#deps = deps;
    this.#unverified = unverified;
    this.#responder = createResponder(deps);
    this.#noteUncounted = callOnce(() => deps.receiver.log.warn({}, UNCOUNTED));
    this.#sparing = createSparingLog(deps.receiver.log, deps.receiver.clock);
    this.#routes = createRoutes(options, { ...deps, responder: this.#responder });
  }

  /** @param quiet delays the work, which counts as the request's time; undefined where it starts at once */
  start(exchange: Exchange, quiet?: Promise<void>): void {
    const path = exchange.path ?? pathOf(exchange.target);
    const { route, params } = this.#routes.find(path);
    const callbackPath = route?.isCallback ? (route.pattern ?? path) : undefined;
    const request = createRequestContext(exchange, callbackPath, params, this.#deps.receiver);
    if (quiet === undefined) this.#guard(request, () => this.#admit(request, route));
    else void quiet.then(() => this.#guard(request, () => this.#admit(request, route)));
  }

  #admit(request: RequestContext, route: Route | undefined): void {
    const { address } = request.exchange;
    const outcome = admit(request, route, this.#throttle, this.#deps);
    if (address === "") this.#noteUnknown(request, route);
    if (outcome instanceof Promise) this.#later(request, outcome, (refusal) => this.#admitted(request, route, refusal));
    else this.#admitted(request, route, outcome);
  }

  /** Reports bounds that need the client's address: their author cannot have meant that none is handed over. */
  #noteUnknown(request: RequestContext, route: Route | undefined): void {
    const { admission } = this.#deps;
    const source = route?.source?.name;
    if (!allows(route, admission, "")) this.#sparing("warn", { fields: { source }, message: ADDRESS_UNKNOWN });
    else if (policiesOf(request, route, admission).length > 0) this.#noteUncounted();
  }

  #admitted(request: RequestContext, route: Route | undefined, outcome: Outcome | undefined): void {
    if (outcome !== undefined) {
      // A browser gets its 503 in a page.
      const render = outcome.kind === "failed" ? route?.render : undefined;
      this.#responder.respond(request, { outcome }, { source: route?.source, render });
    } else if (request.exchange.method === "GET") this.#handle(request, route);
    else this.#receive(request, route);
  }

  #receive(request: RequestContext, route: Route | undefined): void {
    const maxBytes = route?.maxBytes ?? this.#maxBodyBytes;
    const { exchange } = request;
    const limits = { maxBytes, address: rateKey(exchange.address), unverified: this.#unverified };
    readRequestBody(exchange, limits, (body) =>
      this.#guard(request, () => {
        if (!("bytes" in body)) return this.#respondWithoutBody(request, route, body);
        request.body = body.bytes;
        request.bodyReservation = body.reservation;
        this.#handle(request, route);
      }),
    );
  }

  #handle(request: RequestContext, route: Route | undefined): void {
    const handling = route?.handle(request);
    if (handling instanceof Promise) this.#later(request, handling, () => {});
  }

  #respondWithoutBody(request: RequestContext, route: Route | undefined, fault: BodyFault): void {
    // The rest of the body is not read.
    request.responseHeaders.connection = "close";
    if ("cause" in fault && fault.code === "body_consumed")
      this.#sparing("error", { fields: { source: route?.source?.name }, message: errorReason(fault.cause) });
    // The response to a body that did not arrive in time is already written.
    const code = isRefused(fault) ? request.exchange.writtenFault?.() : undefined;
    const outcome = code === undefined ? fault : refused(code);
    this.#responder.respond(request, { outcome }, { source: route?.source });
  }

  #guard(request: RequestContext, step: () => void): void {
    try {
      request.context.runInAsyncScope(step);
    } catch (error) {
      this.#fail(request, error);
    }
  }

  #later<T>(request: RequestContext, waiting: Promise<T>, next: (value: T) => void): void {
    waiting.then(next).catch((error: unknown) => this.#fail(request, error));
  }

  #fail(request: RequestContext, error: unknown): void {
    request.bodyReservation?.release();
    this.#responder.respond(request, { outcome: failed("internal", error) });
  }
}

/** Why the request is not admitted, before its body. A promise where a rate limit has to be counted, or it has to wait. */
function admit(
  request: RequestContext,
  route: Route | undefined,
  throttle: ReturnType<typeof createOverloadThrottle>,
  { admission, tls, receiver }: ReceiveDependencies,
): Outcome | undefined | Promise<Outcome | undefined> {
  const { responseHeaders } = request;
  const { address } = request.exchange;
  if (tls) responseHeaders["strict-transport-security"] = "max-age=31536000";
  if (!allows(route, admission, address))
    return refused("address_not_allowed", address === "" ? { detail: ADDRESS_UNKNOWN } : {});
  const policies = policiesOf(request, route, admission);
  const next = () =>
    protocolFault(request, route, admission) ?? admitToRoute(request, route, receiver.concurrency, throttle);
  // Unknown to an application that does not hand it over: all its callers would be counted as one.
  if (policies.length === 0 || address === "") return next();
  const counting = applyRateLimits(policies, rateKey(address), admission.count, receiver.clock.now());
  return counting.then(({ refusal, headers }) => {
    Object.assign(responseHeaders, headers);
    return refusal ?? next();
  });
}

function allows(route: Route | undefined, { isAllowed }: AdmissionSettings, address: string): boolean {
  return (route?.isAllowed ?? isAllowed)(address);
}

function policiesOf(
  { isCallback }: RequestContext,
  route: Route | undefined,
  { limits: { callbacks, everywhere } }: AdmissionSettings,
): readonly Policy[] {
  return isCallback ? (route?.limits ?? callbacks) : everywhere;
}

const UNCOUNTED =
  "the client's address is not known, so that rate limits do not count its requests: hand it over as clientAddress, to " +
  "fetch() or to the handler";
const ADDRESS_UNKNOWN =
  "the client's address is not known, and an allow list needs it: hand it over as clientAddress, to fetch() or to the handler";

/** RFC 9110 §8.4.1.3: they are one. */
const GZIP: ReadonlySet<string> = new Set(["gzip", "x-gzip"]);

function protocolFault(
  { exchange: { protocol, headers } }: RequestContext,
  route: Route | undefined,
  { requireHttps }: AdmissionSettings,
): Refused | undefined {
  if (requireHttps && protocol !== "https") return refused("https_required");
  const encoding = String(headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  if (encoding === "identity" || (route?.takesGzip === true && GZIP.has(encoding))) return undefined;
  return refused("content_encoding_unsupported");
}

function admitToRoute(
  { exchange: { method }, responseHeaders, params }: RequestContext,
  route: Route | undefined,
  concurrency: ConcurrencyLimit,
  throttle: ReturnType<typeof createOverloadThrottle>,
): Outcome | undefined | Promise<Outcome | undefined> {
  if (route === undefined) return refused("not_found");
  if (route.meant !== undefined) {
    const message = `not found: the address is ${route.meant}, without another slash`;
    return refused("not_found", { message });
  }
  // A code stands in these addresses, and must not travel on with a link.
  if (route.isOAuth) responseHeaders["referrer-policy"] = "no-referrer";
  if (!route.methods.includes(method)) return refused("method_not_allowed", { allow: route.methods.join(", ") });
  // It costs next to nothing here, and tells nothing of whether the callback is authentic.
  const name = route.source?.name ?? "";
  const overload = () => concurrency.overload(params === undefined ? name : tenantSource(name, params));
  if (!route.isConcurrencyLimited || overload() === undefined) return undefined;
  const waiting = throttle.wait();
  return waiting === undefined ? overload() : waiting.then(overload);
}

/** A response takes about a twentieth of a millisecond, so that these are a twentieth of the time. */
const PER_SECOND = 1_000;
const BURST = 200;
/** Bounds the wait to a quarter of a second: past this number a response is sent at once. */
const MAX_WAITING = 250;
/** Clients that get their responses together retry together, which costs less than one by one. */
const CHECK_INTERVAL_MS = 20;

/**
 * A client that gets 503 for overload may retry at once. Enough of them would take all time from admitted requests. So
 * past a number a second their responses wait, for a moment at most where connections are in hundreds.
 */
export function createOverloadThrottle(perSecond = PER_SECOND, burst = BURST) {
  const waiting: (() => void)[] = [];
  const bucket = new TokenBucket(perSecond, burst);
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(releaseDue, CHECK_INTERVAL_MS);
  }

  function releaseDue(): void {
    isScheduled = false;
    while (waiting.length > 0 && bucket.take()) waiting.shift()?.();
    if (waiting.length > 0) schedule();
  }

  return {
    /** Resolves when the next response may be sent; undefined when it may at once. */
    wait(): Promise<void> | undefined {
      if (waiting.length >= MAX_WAITING) return undefined;
      if (waiting.length === 0 && bucket.take()) return undefined;
      schedule();
      return new Promise<void>((resolve) => void waiting.push(resolve));
    },
  };
}
