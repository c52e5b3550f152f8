import type { Version } from "../domain/index.ts";
import { processCallback } from "../pipeline/index.ts";
import type { DistinctHeaders } from "../sources/index.ts";
import { captureRoute } from "./capture-route.ts";
import { doneRoute, redirectRoute, renderFor, startRoute } from "./oauth-routes.ts";
import type { PublicDependencies } from "./public-dependencies.ts";
import { createRouteHandler, type Render, type Responder, type RouteHandler } from "./responder.ts";

export interface Route {
  readonly methods: readonly string[];
  /** Logged, counted and limited as one; the others are pages and starts of flows. */
  readonly isCallback: boolean;
  readonly isOAuth: boolean;
  /** Whether it is refused while as many callbacks are at work as there are places. */
  readonly isConcurrencyLimited: boolean;
  /** What its caller understands, where that is not JSON alone. */
  readonly render?: Render;
  /** Where its bodies are shorter than those of callbacks. */
  readonly maxBytes?: number;
  readonly handle: RouteHandler;
}

/** A code and a state; the parameters of a body are parsed before they are verified. */
const REDIRECT_BYTES = 65_536;

export function createRoutes(
  { callbacks, redirect, start, done, capture }: EndpointPaths,
  timeLimitMs: number,
  deps: PublicDependencies,
  responder: Responder,
): ReadonlyMap<string, Route> {
  const served = new Map<string, Route>();
  const callback = { methods: ["POST"], isCallback: true, isOAuth: false, isConcurrencyLimited: true };
  for (const { path, version } of callbacks)
    served.set(path, { ...callback, handle: callbackRoute(version, timeLimitMs, deps, responder) });
  const oauth = { isOAuth: true, isConcurrencyLimited: true, render: renderFor(deps) };
  served.set(redirect, {
    ...oauth,
    methods: ["GET", "POST"],
    isCallback: true,
    maxBytes: REDIRECT_BYTES,
    handle: redirectRoute(timeLimitMs, deps, responder),
  });
  const page = { ...oauth, methods: ["GET"], isCallback: false };
  if (start !== undefined) served.set(start, { ...page, handle: startRoute(deps, responder) });
  served.set(done, { ...page, isConcurrencyLimited: false, handle: doneRoute() });
  if (deps.capture !== null) {
    const handle = captureRoute(deps.capture, deps.receiver.log);
    const stream = { methods: ["GET"], isCallback: false, isOAuth: false, isConcurrencyLimited: false };
    served.set(capture, { ...stream, handle });
  }
  return served;
}

/** `POST {base}/api[/v1|/v2]/platform/callback` (SPEC 4.1, 4.2). */
function callbackRoute(
  version: Version | "by_header",
  timeLimitMs: number,
  deps: PublicDependencies,
  responder: Responder,
): RouteHandler {
  const { source, receiver, capture } = deps;
  return createRouteHandler(deps, responder, source.name, (request, { buildLogEntry, end }) => {
    const headers = request.message.headersDistinct;
    const { body, startedAt } = request;
    // Captured unchanged, before any decision: the listening process verifies it itself.
    if (capture !== null) {
      const { requestId, receivedAt, method, url } = request;
      const { rawHeaders } = request.message;
      capture.buffer.keep({ requestId, receivedAt, method, url, rawHeaders, body });
    }
    const callback = {
      source,
      version: version === "by_header" ? versionOf(headers) : version,
      method: request.method,
      target: request.url,
      headers,
      body,
      deadline: startedAt + timeLimitMs,
      bodyReservation: request.bodyReservation,
      context: request.context,
      buildLogEntry,
      end,
    };
    processCallback(callback, receiver);
  });
}

/** The addresses that platforms call (SPEC 4), below the base path of `CALLBACK_BASE_URL`. */
export interface EndpointPaths {
  readonly callbacks: readonly { readonly path: string; readonly version: Version | "by_header" }[];
  readonly redirect: string;
  /** Absent where the platform has no address at which a flow could start. */
  readonly start?: string;
  readonly done: string;
  /** Where listeners get the captured callbacks; served only with CAPTURE=on. */
  readonly capture: string;
}

export function endpointPaths(basePath: string, oauthScopePath: string, startsFlows = true): EndpointPaths {
  const oauth = `${basePath}/api/${oauthScopePath}/oauth-`;
  return {
    callbacks: [
      { path: `${basePath}/api/platform/callback`, version: "by_header" },
      { path: `${basePath}/api/v1/platform/callback`, version: "v1" },
      { path: `${basePath}/api/v2/platform/callback`, version: "v2" },
    ],
    redirect: `${oauth}callback`,
    done: `${oauth}done`,
    capture: `${basePath}/_oncehook/captured`,
    ...(startsFlows ? { start: `${oauth}start` } : {}),
  };
}

/** SPEC 9.2: the value `v2` selects version 2, anything else or nothing version 1. */
function versionOf(headers: DistinctHeaders): Version {
  const values = headers["x-api-version"] ?? [];
  return values.length === 1 && values[0] === "v2" ? "v2" : "v1";
}
