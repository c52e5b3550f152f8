import { compilePath, type EndpointPaths, hasParameters, type Version, withoutExtraSlashes } from "../domain/index.ts";
import { processCallback, type Source } from "../pipeline/index.ts";
import type { DistinctHeaders, PathParameters } from "../sources/index.ts";
import { captureRoute } from "./capture-route.ts";
import { doneRoute, REDIRECTS, redirectRoute, render, startRoute } from "./oauth-routes.ts";
import type { Policy } from "./rate-limit.ts";
import {
  createRouteHandler,
  type KnownSource,
  type Render,
  type ResponderDependencies,
  type RouteHandler,
} from "./responder.ts";

export interface Route {
  readonly methods: readonly string[];
  /** Logged, counted and limited as one; the others are pages and starts of flows. */
  readonly isCallback: boolean;
  readonly isOAuth: boolean;
  /** Whether it is refused while `MAX_WAITING_CALLBACKS` callbacks are at work. */
  readonly isConcurrencyLimited: boolean;
  /** Makes a response that its caller understands, where that is not only JSON. */
  readonly render?: Render;
  /** Of the callbacks at this address; undefined for pages. */
  readonly source?: KnownSource;
  /** Longer bodies get 413. */
  readonly maxBytes: number;
  /** Compressed bodies are passed on as they are; at other addresses they get 415. */
  readonly takesGzip?: true;
  /** Its rate limits, where they are not those of all callbacks. */
  readonly limits?: readonly Policy[];
  /** Its allow list, where it is not the one of all addresses. */
  readonly isAllowed?: (address: string) => boolean;
  /** The path as it was configured, where it has parameters. */
  readonly pattern?: string;
  /** The right path, where a callback came to one with other slashes; such a callback gets 404. */
  readonly meant?: string;
  readonly handle: RouteHandler;
}

interface FoundRoute {
  readonly route: Route | undefined;
  readonly params?: PathParameters;
}

/** The routes by their paths; those with parameters are looked at last, in the order of the configuration. */
export class Routes {
  readonly #exact = new Map<string, Route>();
  readonly #patterns: { readonly pattern: RegExp; readonly target: FoundRoute }[] = [];

  set(path: string, route: Route): void {
    if (!hasParameters(path)) this.#exact.set(path, route);
    else this.#patterns.push({ pattern: compilePath(path), target: { route: { ...route, pattern: path } } });
  }

  find(path: string): FoundRoute {
    const match = this.#match(path);
    if (match.route !== undefined) return match;
    const meant = withoutExtraSlashes(path);
    const { route } = this.#match(meant);
    return route?.isCallback === true ? { route: { ...route, meant } } : match;
  }

  #match(path: string): FoundRoute {
    const route = this.#exact.get(path);
    if (route !== undefined || this.#patterns.length === 0) return { route };
    for (const { pattern, target } of this.#patterns) {
      const match = pattern.exec(path);
      if (match !== null) return { ...target, params: { ...match.groups } };
    }
    return { route };
  }
}

/** A code and a state; the parameters of a body are parsed before they are verified. */
const REDIRECT_BYTES = 65_536;

/** The bounds of one source's addresses, in the place of those of all. */
export interface SourceBounds {
  readonly maxBodyBytes?: number;
  readonly limits?: readonly Policy[];
  readonly isAllowed?: (address: string) => boolean;
}

export interface RouteOptions {
  readonly addresses: EndpointPaths;
  readonly maxBodyBytes: number;
  /** By the names of sources. */
  readonly sourceBounds?: ReadonlyMap<string, SourceBounds>;
  readonly requestTimeoutMs: number;
}

export function createRoutes(
  { addresses, maxBodyBytes, sourceBounds, requestTimeoutMs: timeLimitMs }: RouteOptions,
  deps: ResponderDependencies,
): Routes {
  const { callbacks, redirect, start, done, capture } = addresses;
  const served = new Routes();
  const callback = { isCallback: true, isOAuth: false };
  for (const { source: name, path, version } of callbacks) {
    const source = deps.receiver.sourcesByName.get(name);
    if (source === undefined) throw new TypeError(`the address ${path} is of no source`);
    const { methods, takesGzip } = source.contract;
    // Other events are durable before they run, and can be run later.
    const isConcurrencyLimited = source.answer === "inline";
    const handle = callbackRoute(source, version, timeLimitMs, deps);
    const { maxBodyBytes: maxBytes = maxBodyBytes, ...bounds } = sourceBounds?.get(name) ?? {};
    const route = { ...callback, source, isConcurrencyLimited, methods, maxBytes, handle, ...bounds };
    served.set(path, takesGzip ? { ...route, takesGzip } : route);
  }
  const maxBytes = Math.min(REDIRECT_BYTES, maxBodyBytes);
  const oauth = { isOAuth: true, isConcurrencyLimited: true, maxBytes, render };
  served.set(redirect, {
    ...oauth,
    source: REDIRECTS,
    methods: ["GET", "POST"],
    isCallback: true,
    handle: redirectRoute(timeLimitMs, deps),
  });
  const page = { ...oauth, methods: ["GET"], isCallback: false };
  if (start !== undefined) served.set(start, { ...page, handle: startRoute(deps) });
  served.set(done, { ...page, isConcurrencyLimited: false, handle: doneRoute });
  if (deps.capture !== null) {
    const handle = captureRoute(deps.capture, deps.receiver.log);
    const stream = { methods: ["GET"], isCallback: false, isOAuth: false, isConcurrencyLimited: false };
    served.set(capture, { ...stream, maxBytes, handle });
  }
  return served;
}

/** `POST {base}/api[/v1|/v2]/platform/callback` (SPEC 4.1, 4.2), and the addresses of the other sources. */
function callbackRoute(
  source: Source,
  version: Version | "by_header",
  timeLimitMs: number,
  deps: ResponderDependencies,
): RouteHandler {
  const { receiver, capture } = deps;
  return createRouteHandler(deps, source, (request, { buildLogEntry, settleItem, settle }) => {
    const { exchange, body, receivedAt, startedAt, params, requestId, bodyReservation, context } = request;
    const { method, target, address, distinctHeaders: headers } = exchange;
    // Captured unchanged, before any decision: the listening process verifies it itself.
    const { rawHeaders } = exchange;
    if (capture !== null) capture.buffer.keep({ requestId, receivedAt, method, url: target, rawHeaders, body });
    const callback = {
      source,
      version: version === "by_header" ? versionOf(headers) : version,
      method,
      target,
      params,
      headers,
      rawHeaders,
      body,
      receivedAt,
      startedAt,
      deadline: startedAt + timeLimitMs,
      bodyReservation,
      remoteAddress: address,
      deliveryId: requestId,
      context,
      buildLogEntry,
      settleItem,
      settle,
    };
    processCallback(callback, receiver);
  });
}

/** SPEC 9.2: the value `v2` selects version 2, anything else or nothing version 1. */
function versionOf(headers: DistinctHeaders): Version {
  const values = headers["x-api-version"] ?? [];
  return values.length === 1 && values[0] === "v2" ? "v2" : "v1";
}
