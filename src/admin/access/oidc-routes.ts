import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createSparingLog, createWindowLimit } from "../../domain/index.ts";
import { FlowMissing, SIGN_IN_SECONDS, SignInRefused, type SignInResult } from "../../oauth/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { OidcProvider } from "./access.ts";
import { type Authenticator, readCookie, setCookie } from "./authenticator.ts";
import { startSession } from "./session-routes.ts";

/** They are a browser's way, and no part of the API. */
const PAGE_ROUTE = { schema: { hide: true, guard: { isPublic: true } } };
const SIGN_IN_PATH = "/sign-in/oidc";
export const CALLBACK_PATH = "/sign-in/oidc/callback";

const HOUR_MS = 3_600_000;

interface SignInDependencies extends AdminDependencies {
  readonly provider: OidcProvider;
  readonly authenticator: Authenticator;
  /** Logs an error that any client can cause. */
  readonly logError: (error: unknown, message: string) => void;
  /** Any page can make a browser send such a request, so that it must neither count against an address nor fill the audit log. */
  readonly logUnknownFlow: (address: string, reason: string) => void;
}

/** `GET /sign-in/oidc` sends a browser to the provider, which sends it back to `/sign-in/oidc/callback`. */
export function registerOidcRoutes(
  app: FastifyInstance,
  deps: AdminDependencies,
  provider: OidcProvider,
  authenticator: Authenticator,
): void {
  const { access, log, clock } = deps;
  const sparing = createSparingLog(log, clock);
  const mayLogFlow = createWindowLimit(60, HOUR_MS);
  const signInDeps: SignInDependencies = {
    ...deps,
    provider,
    authenticator,
    logError: (error, message) => sparing("error", { fields: { err: error }, message }),
    logUnknownFlow(address, reason) {
      if (mayLogFlow(clock.now()))
        log.warn({ address, reason }, "a browser returned from the provider without a flow of this receiver");
    },
  };
  app.get<{ Querystring: { back?: unknown } }>(SIGN_IN_PATH, PAGE_ROUTE, async (request, reply) => {
    try {
      const { location, flow } = await provider.signIn.begin(parseReturnTo(request.query.back));
      const value = { value: flow, maxAgeSeconds: SIGN_IN_SECONDS };
      const cookie = setCookie("flow", request, access.baseUrl, value);
      return reply.code(303).headers({ location, "set-cookie": cookie }).send();
    } catch (error) {
      signInDeps.logError(error, "OpenID Connect sign-in failed: the provider did not respond");
      return sendPage(reply, UNAVAILABLE);
    }
  });
  app.get(CALLBACK_PATH, PAGE_ROUTE, async (request, reply) => {
    const page = await signIn(request, reply, signInDeps);
    // It is of no use any more, whatever came of it; `append` keeps the session's.
    reply.header("set-cookie", setCookie("flow", request, access.baseUrl, { value: "", maxAgeSeconds: 0 }));
    return sendPage(reply, page);
  });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, deps: SignInDependencies): Promise<Page> {
  const { access, provider } = deps;
  const { loginThrottle, recordRefusal } = deps.tokenCheck;
  const remoteAddress = access.remoteAddress(request.raw);
  const key = access.rateKey(remoteAddress);
  if (loginThrottle.secondsToWait(key) > 0) return TOO_MANY_ATTEMPTS;
  const [, query = ""] = request.url.split("?", 2);
  let signedIn: SignInResult;
  try {
    const flow = readCookie("flow", request, access.baseUrl);
    signedIn = await provider.signIn.end(new URLSearchParams(query), flow);
  } catch (error) {
    if (error instanceof FlowMissing) {
      deps.logUnknownFlow(remoteAddress, error.message);
      return NOT_SIGNED_IN;
    }
    if (error instanceof SignInRefused) {
      if (loginThrottle.recordFailure(key, query))
        recordRefusal({ remoteAddress, actor: null, reason: error.message });
      return NOT_SIGNED_IN;
    }
    deps.logError(error, "a sign-in by OpenID Connect could not be finished");
    return UNAVAILABLE;
  }
  const { identity, returnTo } = signedIn;
  const actor = identity.email ?? `sub:${identity.subject}`;
  const role = provider.roleOf(identity);
  if (role === undefined) {
    recordRefusal({ remoteAddress, actor, reason: "on neither list" });
    return NOT_LISTED;
  }
  const admitted = { actor, role, credentialFingerprint: provider.fingerprint, method: "oidc" } as const;
  const session = await startSession(request, reply, admitted, deps);
  return session === undefined ? UNAVAILABLE : signedInPage(parseReturnTo(returnTo));
}

function sendPage(reply: FastifyReply, { status, html }: Page): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(html);
}

/** What a browser is shown on its way in. Fixed words alone: nothing of a request is ever written into it, but for where to go on to. */
interface Page {
  readonly status: number;
  readonly html: string;
}

const STYLE =
  ":root{color-scheme:light dark;font:1.1rem/1.5 system-ui,sans-serif}" +
  "main{max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.4rem}";

/** The URL holds an authorization code: it must not leak as a referrer. */
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;

/**
 * A redirect would be the last step of a way that the provider's page began, and no `Strict` cookie goes along with that: so it is a
 * page of our own that goes on.
 */
function signedInPage(returnTo: ReturnTo): Page {
  // An address that was parsed has neither quotation marks nor angle brackets in it.
  const href = returnTo.replaceAll("&", "&amp;");
  return renderPage(200, "You are signed in", `<a href="${href}">Continue</a>`, href);
}
const NOT_SIGNED_IN = renderPage(
  401,
  "You are not signed in",
  "The provider did not let you in, or the sign-in was started in another browser or more than ten minutes ago. " +
    '<a href="/sign-in">Start again</a>',
);
const NOT_LISTED = renderPage(
  403,
  "Access denied",
  "The provider knows you, but you are on neither list: ADMIN_OIDC_OPERATORS, ADMIN_OIDC_VIEWERS. " +
    '<a href="/sign-in">Sign in otherwise</a>',
);
const TOO_MANY_ATTEMPTS = renderPage(
  429,
  "Too many attempts",
  'Wait for a minute, then <a href="/sign-in">start again</a>',
);
const UNAVAILABLE = renderPage(
  503,
  "Not right now",
  "The sign-in could not be finished, and the receiver's log says why. " +
    '<a href="/sign-in">Start again</a> in a moment',
);

function renderPage(status: number, title: string, text: string, href?: string): Page {
  const refresh = href === undefined ? "" : `<meta http-equiv="refresh" content="0;url=${href}">`;
  const html =
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${refresh}` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1><p>${text}.</p></main></body></html>\n`;
  return { status, html };
}

/** A path of this origin with query and fragment, encoded as addresses are. */
type ReturnTo = string & { readonly isWayBack: true };

/** In bytes; a cookie has to hold it. */
const MAX_LENGTH = 1_000;
const PLACEHOLDER_ORIGIN = "http://here.invalid";
const HOME = "/" as ReturnTo;

/**
 * The page to return to after signing in. It comes from a URL that anyone can write, so that it leads only to
 * another page here, and not into another sign-in; what does not is the first page.
 */
function parseReturnTo(asked: unknown): ReturnTo {
  const url =
    typeof asked === "string" && asked.startsWith("/") ? URL.parse(asked, PLACEHOLDER_ORIGIN) : null;
  if (url === null || url.origin !== PLACEHOLDER_ORIGIN || url.pathname.startsWith("/sign-in")) return HOME;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // A browser would take what follows two slashes for a host, and there they may be only now that the dots are gone.
  if (path.startsWith("//") || /["<>]/.test(path) || JSON.stringify(path).length > MAX_LENGTH) return HOME;
  return path as ReturnTo;
}
