import { failed, OAUTH, type Outcome, refused } from "../domain/index.ts";
import { browserPage, MAX_CONTEXT_BYTES, PAGE_HEADERS, processRedirect, startFlow } from "../oauth/index.ts";
import { queryOf } from "./exchange.ts";
import type { RequestContext } from "./request-context.ts";
import {
  createRouteHandler,
  type KnownSource,
  type Render,
  type ResponderDependencies,
  type RouteHandler,
} from "./responder.ts";
import { respondThrottled } from "./responses.ts";

export const REDIRECTS: KnownSource = { name: OAUTH };

/** Browsers ask for a page; callers of an API do not. */
export const render: Render = ({ exchange: { headers } }, _outcome, response) => {
  if (headers.accept?.includes("text/html") !== true) return response;
  const { status } = response;
  return { status, headers: { ...response.headers, ...PAGE_HEADERS }, body: pageFor(status) };
};

/** `GET` and `POST {base}/api/<scope>/oauth-callback` (SPEC 4.3). */
export function redirectRoute(timeLimitMs: number, deps: ResponderDependencies): RouteHandler {
  return createRouteHandler(
    deps,
    REDIRECTS,
    (request, { buildLogEntry, settle }) => {
      if (isPrefetch(request)) return settle({ outcome: refused("prefetch_refused") });
      const { method, target, distinctHeaders: headers } = request.exchange;
      const redirect = {
        ...{ method, target, headers },
        body: request.body,
        query: queryOf(target),
        deadline: request.startedAt + timeLimitMs,
        bodyReservation: request.bodyReservation,
      };
      processRedirect(redirect, deps.oauth, buildLogEntry).then(settle, (error: unknown) =>
        settle({ outcome: failed("internal", error) }),
      );
    },
    render,
  );
}

/** `GET {base}/api/<scope>/oauth-start`: sends the browser to the platform. */
export function startRoute({ oauth, responder }: ResponderDependencies): RouteHandler {
  const { startRefusal, sparing } = oauth;
  return async (request) => {
    const respond = (outcome: Outcome) => responder.respond(request, { outcome }, { render });
    if (startRefusal !== undefined) return respond(refused("not_found", { message: startRefusal }));
    // Pages elsewhere must not fill a browser with the cookies of flows.
    const { "sec-fetch-dest": target = "document" } = request.exchange.headers;
    if (isPrefetch(request) || target !== "document") return respond(refused("prefetch_refused"));
    const context = new URLSearchParams(queryOf(request.exchange.target)).get("context") ?? undefined;
    const bytes = Buffer.byteLength(context ?? "");
    if (bytes > MAX_CONTEXT_BYTES) {
      const message = `context: ${bytes} bytes, expected at most ${MAX_CONTEXT_BYTES}`;
      return respond(refused("redirect_invalid", { message }));
    }
    try {
      const { location, cookies } = await startFlow(request.exchange.distinctHeaders, context, oauth);
      respondThrottled(request, { status: 303, headers: { location, "set-cookie": cookies }, body: "" });
    } catch (error) {
      sparing("error", { fields: { err: error }, message: "an OAuth flow could not be started" });
      respond(failed("platform_unavailable", error));
    }
  };
}

/** `GET {base}/api/<scope>/oauth-done`: where a browser comes to rest when nothing else is configured. */
export const doneRoute: RouteHandler = (request) =>
  respondThrottled(request, { status: 200, headers: PAGE_HEADERS, body: DONE_PAGE });

/** A look ahead of the user, which must not use anything up. */
function isPrefetch({ exchange: { headers } }: RequestContext): boolean {
  return [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]].some((value) =>
    /\bpre(?:fetch|render|view)\b/i.test(String(value ?? "")),
  );
}

const DONE_PAGE = browserPage("You are signed in", "You can close this window.");
const REFUSED_PAGE = browserPage(
  "The sign-in did not succeed",
  "The platform did not grant access. You can start again.",
);
const UNCONFIGURED_PAGE = browserPage(
  "Sign-in is not configured",
  "No handler receives user_authorized. Add the built-in one with HANDLERS=user_authorized, or a handler of your own.",
);
const UNKNOWN_PAGE = browserPage(
  "This sign-in is not known here",
  "It was started in another browser, was used already, or took longer than ten minutes. Start it again.",
);
const RETRY_PAGE = browserPage("Not right now", "The sign-in could not be finished. Load this page again in a moment.");

function pageFor(status: number): string {
  if (status >= 500) return RETRY_PAGE;
  if (status === 401) return UNKNOWN_PAGE;
  return status === 404 ? UNCONFIGURED_PAGE : REFUSED_PAGE;
}
