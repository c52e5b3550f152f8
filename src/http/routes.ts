import type { Version } from "../domain/index.ts";
import { receive } from "../receive/index.ts";
import { type Addresses, versionOf } from "./addresses.ts";
import type { Concluder, Render } from "./conclude.ts";
import { concludedRoute, type Route } from "./concluded-route.ts";
import { heardRoute } from "./heard-route.ts";
import { doneRoute, redirectRoute, renderFor, startRoute } from "./oauth-routes.ts";
import type { PublicDeps } from "./public-deps.ts";

/** An address that is served. */
export interface Served {
  readonly methods: readonly string[];
  /** Logged, counted and limited as one; the others are pages and starts of flows. */
  readonly isCallback: boolean;
  readonly isOAuth: boolean;
  /** Whether it is refused while as many callbacks are at work as there are places. */
  readonly isWork: boolean;
  /** What its caller understands, where that is not JSON alone. */
  readonly render?: Render;
  /** Where its bodies are shorter than those of callbacks. */
  readonly mostBytes?: number;
  readonly route: Route;
}

/** A code and a state; the parameters of a body are parsed before they are verified. */
const REDIRECT_BYTES = 65_536;

/** The addresses by their paths. */
export function servedAddresses(
  { callbacks, redirect, start, done, heard }: Addresses,
  timeLimitMs: number,
  deps: PublicDeps,
  concluder: Concluder,
): ReadonlyMap<string, Served> {
  const served = new Map<string, Served>();
  for (const { path, version } of callbacks) {
    const route = callbackRoute(version, timeLimitMs, deps, concluder);
    served.set(path, { methods: ["POST"], isCallback: true, isOAuth: false, isWork: true, route });
  }
  const redirected = redirectRoute(timeLimitMs, deps, concluder);
  const oauth = { isOAuth: true, isWork: true, render: renderFor(deps) };
  const redirecting = { methods: ["GET", "POST"], isCallback: true, mostBytes: REDIRECT_BYTES };
  served.set(redirect, { ...oauth, ...redirecting, route: redirected });
  const page = { ...oauth, methods: ["GET"], isCallback: false };
  if (start !== undefined) served.set(start, { ...page, route: startRoute(deps, concluder) });
  served.set(done, { ...page, isWork: false, route: doneRoute() });
  if (deps.heard !== null) {
    const route = heardRoute(deps.heard, deps.log);
    served.set(heard, { methods: ["GET"], isCallback: false, isOAuth: false, isWork: false, route });
  }
  return served;
}

/** `POST {base}/api[/v1|/v2]/platform/callback` (SPEC 4.1, 4.2). */
function callbackRoute(
  version: Version | "by_header",
  timeLimitMs: number,
  deps: PublicDeps,
  concluder: Concluder,
): Route {
  const { source, receiver, heard } = deps;
  return concludedRoute(deps, concluder, source.name, (request, rowOf) => {
    const headers = request.message.headersDistinct;
    const { body, startedAt } = request;
    // As it came, whatever becomes of it: whoever listens judges for himself.
    if (heard !== null) {
      const { requestId, receivedAt, method, url } = request;
      const { rawHeaders } = request.message;
      heard.hearing.keep({ requestId, receivedAt, method, url, rawHeaders, body });
    }
    return receive(
      {
        source,
        version: version === "by_header" ? versionOf(headers) : version,
        headers,
        body,
        deadline: startedAt + timeLimitMs,
        verified: request.verified,
      },
      receiver,
      rowOf,
    );
  });
}
