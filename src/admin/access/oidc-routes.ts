import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createSparingLog, type SparingLog } from "../../domain/index.ts";
import { FlowMissing, SIGN_IN_SECONDS, SignInRefused, type SignInResult } from "../../oauth/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { OidcProvider } from "./access.ts";
import type { Authenticator } from "./authenticator.ts";
import { readCookie, setCookie } from "./session-cookie.ts";
import { startSession } from "./session-routes.ts";
import {
  NOT_LISTED,
  NOT_SIGNED_IN,
  PAGE_HEADERS,
  type Page,
  parseReturnTo,
  signedInPage,
  TOO_MANY_ATTEMPTS,
  UNAVAILABLE,
} from "./sign-in-pages.ts";

/** They are a browser's way, and no part of the API. */
const PAGE_ROUTE = { schema: { hide: true, guard: { isPublic: true } } };
const SIGN_IN_PATH = "/sign-in/oidc";
export const CALLBACK_PATH = "/sign-in/oidc/callback";

/** `GET /sign-in/oidc` sends a browser to the provider, which sends it back to `/sign-in/oidc/callback`. */
export function registerOidcRoutes(
  app: FastifyInstance,
  deps: AdminDependencies,
  provider: OidcProvider,
  authenticator: Authenticator,
): void {
  const { access, log, clock } = deps;
  const sparing = createSparingLog(log, clock);
  app.get<{ Querystring: { back?: unknown } }>(SIGN_IN_PATH, PAGE_ROUTE, async (request, reply) => {
    try {
      const { location, flow } = await provider.signIn.begin(parseReturnTo(request.query.back));
      const cookie = setCookie("flow", request, access.baseUrl, flow, SIGN_IN_SECONDS);
      return reply.code(303).headers({ location, "set-cookie": cookie }).send();
    } catch (error) {
      const message = "OpenID Connect sign-in failed: the provider did not respond";
      sparing("error", { fields: { err: error }, message });
      return sendPage(reply, UNAVAILABLE);
    }
  });
  app.get(CALLBACK_PATH, PAGE_ROUTE, async (request, reply) => {
    const page = await signIn(request, reply, provider, { ...deps, sparing }, authenticator);
    // It is of no use any more, whatever came of it; `append` keeps the session's.
    reply.header("set-cookie", setCookie("flow", request, access.baseUrl, "", 0));
    return sendPage(reply, page);
  });
}

async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  provider: OidcProvider,
  deps: AdminDependencies & { readonly sparing: SparingLog },
  authenticator: Authenticator,
): Promise<Page> {
  const remoteAddress = deps.access.remoteAddress(request.raw);
  const key = deps.access.rateKey(remoteAddress);
  if (authenticator.loginThrottle.secondsToWait(key) > 0) return TOO_MANY_ATTEMPTS;
  const [, query = ""] = request.url.split("?", 2);
  let signedIn: SignInResult;
  try {
    const flow = readCookie("flow", request, deps.access.baseUrl);
    signedIn = await provider.signIn.end(new URLSearchParams(query), flow);
  } catch (error) {
    if (error instanceof FlowMissing) {
      // Any page can bring that about, so that it must neither count against those at this address nor fill the audit log.
      authenticator.logUnknownFlow(remoteAddress, error.message);
      return NOT_SIGNED_IN;
    }
    if (!(error instanceof SignInRefused)) {
      const message = "a sign-in by OpenID Connect could not be finished";
      deps.sparing("error", { fields: { err: error }, message });
      return UNAVAILABLE;
    }
    if (authenticator.loginThrottle.recordFailure(key, query))
      authenticator.recordRefusal({ remoteAddress, actor: null, reason: error.message });
    return NOT_SIGNED_IN;
  }
  const { identity, returnTo } = signedIn;
  const actor = identity.email ?? `sub:${identity.subject}`;
  const role = provider.roleOf(identity);
  if (role === undefined) {
    authenticator.recordRefusal({ remoteAddress, actor, reason: "on neither list" });
    return NOT_LISTED;
  }
  const admitted = { actor, role, credentialFingerprint: provider.fingerprint, method: "oidc" } as const;
  const session = await startSession(request, reply, admitted, deps, authenticator);
  return session === undefined ? UNAVAILABLE : signedInPage(parseReturnTo(returnTo));
}

function sendPage(reply: FastifyReply, { status, html }: Page): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(html);
}
