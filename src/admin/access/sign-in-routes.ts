import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { createSparingLog, createWindowLimit, HOUR_MS } from "../../domain/index.ts";
import {
  browserPage,
  FLOW_SECONDS,
  FlowMissing,
  PAGE_HEADERS,
  randomSecret,
  SignInRefused,
  type SignInResult,
} from "../../oauth/index.ts";
import { sha256Hex } from "../../sources/index.ts";
import type { StoredSession } from "../../store/index.ts";
import type { RouteDependencies, SignInDependencies } from "../admin-dependencies.ts";
import { HIDDEN_ROUTE, HttpError, operation } from "../operation.ts";
import type { SessionView, SignInView } from "../page-schemas.ts";
import * as auth from "./authenticator.ts";
import { requireCaller } from "./guard.ts";

const METHODS = operation({
  summary: "Sign-in methods",
  isPublic: true,
  responses: { 200: ["The methods.", "SignIn"] },
});
const START = operation({
  summary: "Sign in with a token",
  description:
    "For browsers: the session is in an HttpOnly cookie. Scripts have no use for one, and send the token with each request.",
  isPublic: true,
  action: "session.begin",
  body: z.strictObject({ token: z.string().regex(/^[\x21-\x7e]{1,1024}$/) }),
  responses: {
    200: ["Signed in, and the cookie is set.", "Session"],
    401: "The token is not valid.",
    403: "The request came from another origin.",
    429: "Too many wrong ones came from this address; `Retry-After` says how long to wait.",
    503: "The session cannot be stored right now.",
  },
});
const CURRENT = operation({
  summary: "The current session and its role",
  responses: { 200: ["The session.", "Session"] },
});
const END = operation({
  summary: "Sign out",
  description: "The session ends at once, for every process. A token is not ended by it.",
  action: "session.end",
  role: "viewer",
  responses: { 204: "It has ended." },
});

/** Says who the caller is; an application's page needs it too. */
export function registerCurrentSession(app: FastifyInstance, deps: RouteDependencies): void {
  app.get("/api/v1/session", CURRENT, async (request) => {
    const caller = requireCaller(request);
    return sessionView(caller, deps, caller.session?.expiresAt);
  });
}

type Identity = Pick<auth.Caller, "actor" | "role">;

function sessionView({ actor, role }: Identity, { about, sandbox }: RouteDependencies, expiresAt?: Date): SessionView {
  return { actor, role, expires_at: expiresAt?.toISOString() ?? null, ...about, sandbox: sandbox !== null };
}

export function registerSignIn(app: FastifyInstance, deps: SignInDependencies): void {
  const { access, about, tokenCheck, authenticator } = deps;
  app.get("/api/v1/sign-in", METHODS, async (): Promise<SignInView> => {
    const { provider } = access;
    return {
      methods: provider === null ? ["token"] : ["token", "oidc"],
      oidc_label: provider?.label ?? null,
      environment: about.environment,
    };
  });
  app.post("/api/v1/session", START, async (request, reply) => {
    const checked = tokenCheck.check(request.body.token, access.remoteAddress(request.raw));
    if (checked.result === "too many") throw auth.tooManyAttempts(checked.waitSeconds);
    if (checked.result === "wrong") {
      const error = "this is neither ADMIN_TOKEN nor ADMIN_VIEWER_TOKEN of this receiver";
      throw new HttpError(401, error, auth.CHALLENGE);
    }
    const admitted = { actor: auth.TOKEN_ACTOR, method: "token", ...checked } as const;
    const session = await startSession(request, reply, admitted, deps);
    if (session === undefined) throw new HttpError(503, "the session cannot be stored right now");
    return sessionView(session, deps, session.expiresAt);
  });
  app.delete("/api/v1/session", END, async (request, reply) => {
    const { session } = requireCaller(request);
    if (session !== null) await authenticator.endSession(session.idSha256);
    const cookie = auth.setCookie("session", request, access.baseUrl);
    return reply.header("set-cookie", cookie).code(204).send();
  });
}

interface Authenticated extends Pick<StoredSession, "actor" | "role" | "credentialFingerprint"> {
  readonly method: "token" | "oidc";
  /** The hash of the browser's earlier session, where the flow has it. */
  readonly earlierSession?: string | undefined;
}

/**
 * Starts a session under a new id and sets the cookie. The browser's earlier session ends.
 * @returns undefined if the session could not be stored
 */
async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { method, earlierSession, ...identity }: Authenticated,
  deps: SignInDependencies,
): Promise<StoredSession | undefined> {
  const { store, clock, log, access, authenticator } = deps;
  const { actor, role, credentialFingerprint } = identity;
  const id = randomSecret();
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + access.sessionHours * HOUR_MS);
  const session = { actor, role, credentialFingerprint, startedAt: now, expiresAt };
  const remoteAddress = access.remoteAddress(request.raw);
  const entry = { at: now, actor, role, remoteAddress, action: "session.begin", target: null };
  let auditId: number | undefined;
  try {
    auditId = await store.audit.begin({ ...entry, detail: { by: method }, outcome: null });
    for (const before of new Set([auth.sessionHashOf(request, access.baseUrl), earlierSession]))
      if (before !== undefined) await authenticator.endSession(before);
    await store.sessions.create(sha256Hex(id), session);
    await store.audit.end(auditId, "done");
  } catch (error) {
    log.error({ err: error }, "sign-in failed: the session, or its row in the audit log, was not written");
    if (auditId !== undefined) await store.audit.end(auditId, "failed").catch(() => {});
    return undefined;
  }
  log.info({ actor, role, method, address: remoteAddress }, "an operator signed in");
  const value = { value: id, maxAgeSeconds: access.sessionHours * 3600 };
  reply.header("set-cookie", auth.setCookie("session", request, access.baseUrl, value));
  return session;
}

export const CALLBACK_PATH = "/sign-in/oidc/callback";

interface ProviderDependencies extends SignInDependencies {
  readonly provider: auth.OidcProvider;
  readonly logError: (error: unknown, message: string) => void;
  /** Any page can make a browser send such requests: they neither count for an address nor fill the audit log. */
  readonly logUnknownFlow: (address: string, reason: string) => void;
}

/** `GET /sign-in/oidc` sends a browser to the provider, which sends it back to `/sign-in/oidc/callback`. */
export function registerOidcRoutes(app: FastifyInstance, deps: SignInDependencies, provider: auth.OidcProvider): void {
  const { access, log, clock } = deps;
  const sparing = createSparingLog(log, clock);
  const mayLogFlow = createWindowLimit(60, HOUR_MS);
  const signInDeps: ProviderDependencies = {
    ...deps,
    provider,
    logError: (error, message) => sparing("error", { fields: { err: error }, message }),
    logUnknownFlow(address, reason) {
      if (mayLogFlow(clock.now()))
        log.warn({ address, reason }, "a browser returned from the provider without a flow of this receiver");
    },
  };
  app.get<{ Querystring: { back?: unknown } }>("/sign-in/oidc", HIDDEN_ROUTE, async (request, reply) => {
    try {
      const earlier = auth.sessionHashOf(request, access.baseUrl);
      const { location, flow } = await provider.signIn.begin(parseReturnTo(request.query.back), earlier);
      const value = { value: flow, maxAgeSeconds: FLOW_SECONDS };
      const cookie = auth.setCookie("flow", request, access.baseUrl, value);
      return reply.code(303).headers({ location, "set-cookie": cookie }).send();
    } catch (error) {
      signInDeps.logError(error, "OpenID Connect sign-in failed: the provider did not respond");
      return sendPage(reply, UNAVAILABLE);
    }
  });
  app.get(CALLBACK_PATH, HIDDEN_ROUTE, async (request, reply) => {
    const page = await signIn(request, reply, signInDeps);
    // The flow has ended, whatever its outcome; Fastify keeps the session's cookie beside this header.
    reply.header("set-cookie", auth.setCookie("flow", request, access.baseUrl));
    return sendPage(reply, page);
  });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, deps: ProviderDependencies): Promise<Page> {
  const { access, provider } = deps;
  const { loginThrottle, recordRefusal } = deps.tokenCheck;
  const remoteAddress = access.remoteAddress(request.raw);
  const key = access.rateKey(remoteAddress);
  if (loginThrottle.secondsToWait(key) > 0) return TOO_MANY_ATTEMPTS;
  const [, query = ""] = request.url.split("?", 2);
  let signedIn: SignInResult;
  try {
    const flow = auth.readCookie("flow", request, access.baseUrl);
    signedIn = await provider.signIn.end(new URLSearchParams(query), flow);
  } catch (error) {
    if (error instanceof FlowMissing) {
      deps.logUnknownFlow(remoteAddress, error.message);
      return NOT_SIGNED_IN;
    }
    if (error instanceof SignInRefused) {
      if (loginThrottle.recordFailure(key, query)) recordRefusal({ remoteAddress, actor: null, reason: error.message });
      return NOT_SIGNED_IN;
    }
    deps.logError(error, "a sign-in by OpenID Connect could not be finished");
    return UNAVAILABLE;
  }
  const { identity, returnTo, earlierSession } = signedIn;
  const actor = identity.email ?? `sub:${identity.subject}`;
  const role = provider.roleOf(identity);
  if (role === undefined) {
    recordRefusal({ remoteAddress, actor, reason: "on neither list" });
    return NOT_LISTED;
  }
  const admitted = { actor, role, credentialFingerprint: provider.fingerprint, method: "oidc" } as const;
  const session = await startSession(request, reply, { ...admitted, earlierSession }, deps);
  return session === undefined ? UNAVAILABLE : signedInPage(parseReturnTo(returnTo));
}

type Page = readonly [status: number, html: string];

function sendPage(reply: FastifyReply, [status, html]: Page): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(html);
}

/**
 * The provider's page began this navigation, so that a redirect would carry no `Strict` cookie. A page of this origin
 * continues instead.
 */
function signedInPage(returnTo: ReturnTo): Page {
  // A parsed address contains neither quotation marks nor angle brackets.
  const href = returnTo.replaceAll("&", "&amp;");
  return [200, browserPage("You are signed in", `<a href="${href}">Continue</a>.`, href)];
}

const NOT_SIGNED_IN_TEXT =
  "The provider did not let you in, or the sign-in was started in another browser or more than ten minutes ago. " +
  '<a href="/sign-in">Start again</a>.';
const NOT_SIGNED_IN: Page = [401, browserPage("You are not signed in", NOT_SIGNED_IN_TEXT)];
const NOT_LISTED_TEXT =
  "The provider knows you, but you are on neither list: ADMIN_OIDC_OPERATORS, ADMIN_OIDC_VIEWERS. " +
  '<a href="/sign-in">Sign in otherwise</a>.';
const NOT_LISTED: Page = [403, browserPage("Access denied", NOT_LISTED_TEXT)];
const WAIT_TEXT = 'Wait for a minute, then <a href="/sign-in">start again</a>.';
const TOO_MANY_ATTEMPTS: Page = [429, browserPage("Too many attempts", WAIT_TEXT)];
const UNAVAILABLE_TEXT =
  "The sign-in could not be finished, and the receiver's log says why. " +
  '<a href="/sign-in">Start again</a> in a moment.';
const UNAVAILABLE: Page = [503, browserPage("Not right now", UNAVAILABLE_TEXT)];

/** A path of this origin with query and fragment, encoded as addresses are. */
type ReturnTo = string & { readonly isReturnTo: true };

/** In bytes; a cookie has to hold it. */
const MAX_LENGTH = 1_000;
const PLACEHOLDER_ORIGIN = "http://here.invalid";
const HOME = "/" as ReturnTo;

/**
 * The page to return to after signing in, or else the first page. Anyone can write the parameter: it may lead only to
 * another page of this origin, and not into another sign-in.
 */
function parseReturnTo(asked: unknown): ReturnTo {
  const url = typeof asked === "string" && asked.startsWith("/") ? URL.parse(asked, PLACEHOLDER_ORIGIN) : null;
  if (url === null || url.origin !== PLACEHOLDER_ORIGIN || url.pathname.startsWith("/sign-in")) return HOME;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // A browser reads a host after two slashes. Parsing may have made them by removing dots.
  if (path.startsWith("//") || /["<>]/.test(path) || JSON.stringify(path).length > MAX_LENGTH) return HOME;
  return path as ReturnTo;
}
