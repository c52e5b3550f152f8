import { createSparingLog, failed, refused } from "../domain/index.ts";
import { receiveRedirect, startFlow } from "../oauth/index.ts";
import type { Concluder, Render } from "./conclude.ts";
import { concludedRoute, type Route } from "./concluded-route.ts";
import type { Incoming } from "./incoming.ts";
import { DONE_PAGE, pageAnswer, pageFor, wantsPage } from "./page.ts";
import type { PublicDeps } from "./public-deps.ts";
import { respondInTurn } from "./respond.ts";

/** A page or a redirect for browsers, JSON for others. */
export function renderFor({ oauth }: PublicDeps): Render {
  return (request, outcome, answer) =>
    wantsPage(request) ? pageFor(outcome, answer, oauth.successUrl) : answer;
}

/** `GET` and `POST {base}/api/<scope>/oauth-callback` (SPEC 4.3). */
export function redirectRoute(timeLimitMs: number, deps: PublicDeps, concluder: Concluder): Route {
  return concludedRoute(
    deps,
    concluder,
    "oauth",
    async (request, rowOf) => {
      if (isPrefetch(request)) return { outcome: refused("prefetch_refused") };
      const mark = request.url.indexOf("?");
      const redirect = {
        method: request.method,
        headers: request.message.headersDistinct,
        body: request.body,
        query: mark === -1 ? "" : request.url.slice(mark + 1),
        deadline: request.startedAt + timeLimitMs,
        verified: request.verified,
      };
      return receiveRedirect(redirect, deps.oauth.redirect, rowOf);
    },
    renderFor(deps),
  );
}

/** `GET {base}/api/<scope>/oauth-start`: sends the browser to the platform. */
export function startRoute(deps: PublicDeps, concluder: Concluder): Route {
  const { startRefusal } = deps.oauth;
  const sparing = createSparingLog(deps.log, deps.clock);
  return async (request) => {
    if (startRefusal !== undefined) {
      const outcome = refused("not_found", { message: startRefusal });
      return concluder.conclude(request, { outcome }, { render: renderFor(deps) });
    }
    try {
      const { location, cookie } = await startFlow(request.message.headersDistinct, deps.oauth.start);
      respondInTurn(request, { status: 303, headers: { location, "set-cookie": cookie }, body: "" });
    } catch (error) {
      sparing("error", { fields: { err: error }, message: "an OAuth flow could not be started" });
      const outcome = failed("platform_unavailable", error);
      concluder.conclude(request, { outcome }, { render: renderFor(deps) });
    }
  };
}

/** `GET {base}/api/<scope>/oauth-done`: where a browser comes to rest when nothing else is configured. */
export function doneRoute(): Route {
  const answer = pageAnswer(200, DONE_PAGE);
  return async (request) => respondInTurn(request, answer);
}

/** A look ahead of the user, which must not use anything up. */
function isPrefetch({ headers }: Incoming): boolean {
  return [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]].some((value) =>
    /\bpre(?:fetch|render|view)\b/i.test(String(value ?? "")),
  );
}
