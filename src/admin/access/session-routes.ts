import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Role, StoredSession } from "../../store/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { HttpError, operation, strictObject } from "../operation.ts";
import type { SessionView, SignInView } from "../page-schemas.ts";
import type { Caller } from "./access.ts";
import * as auth from "./authenticator.ts";
import { CHALLENGE, requireCaller, tooManyAttempts } from "./guard.ts";

const METHODS = operation({
  summary: "Sign-in methods",
  isPublic: true,
  responses: { 200: ["The methods.", "SignIn"] },
});
const START = operation<{ Body: { token: string } }>({
  summary: "Sign in with a token",
  description:
    "For browsers: the session is in an HttpOnly cookie. Scripts have no use for one, and send the token with each request.",
  isPublic: true,
  action: "session.begin",
  body: strictObject({ token: { type: "string", pattern: "^[\\x21-\\x7e]{1,1024}$" } }, ["token"]),
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

export function registerSessionRoutes(
  app: FastifyInstance,
  deps: AdminDependencies,
  authenticator: auth.Authenticator,
): void {
  const { access, about, tokenCheck } = deps;
  app.get("/api/v1/sign-in", METHODS, async (): Promise<SignInView> => {
    const { provider } = access;
    return {
      methods: provider === null ? ["token"] : ["token", "oidc"],
      oidc_label: provider?.label ?? null,
      environment: about.environment,
    };
  });
  app.post("/api/v1/session", START, async (request, reply) => {
    const judged = tokenCheck.check(request.body.token, access.remoteAddress(request.raw));
    if (judged.verdict === "too many") throw tooManyAttempts(judged.waitSeconds);
    if (judged.verdict === "wrong")
      throw new HttpError(
        401,
        "this is neither ADMIN_TOKEN nor ADMIN_VIEWER_TOKEN of this receiver",
        CHALLENGE,
      );
    const admitted = { actor: auth.TOKEN_ACTOR, method: "token", ...judged } as const;
    const session = await startSession(request, reply, admitted, { ...deps, authenticator });
    if (session === undefined) throw new HttpError(503, "the session cannot be stored right now");
    return sessionView(session, session.expiresAt, deps);
  });
  app.get("/api/v1/session", CURRENT, async (request) => {
    const caller = requireCaller(request);
    return sessionView(caller, caller.session?.expiresAt ?? null, deps);
  });
  app.delete("/api/v1/session", END, async (request, reply) => {
    const { session } = requireCaller(request);
    if (session !== null) await authenticator.endSession(session.idSha256);
    const cookie = auth.setCookie("session", request, access.baseUrl, { value: "", maxAgeSeconds: 0 });
    return reply.header("set-cookie", cookie).code(204).send();
  });
}

function sessionView(
  { actor, role }: Pick<Caller, "actor" | "role">,
  expiresAt: Date | null,
  { about, sandbox }: AdminDependencies,
): SessionView {
  const expires_at = expiresAt?.toISOString() ?? null;
  return { actor, role, expires_at, ...about, sandbox: sandbox !== null };
}

interface Authenticated {
  readonly actor: string;
  readonly role: Role;
  /** A fingerprint of what they have shown. */
  readonly credentialFingerprint: string;
  readonly method: "token" | "oidc";
}

const HOUR_MS = 3_600_000;

/**
 * Starts a session under a new id and sets the cookie. The browser's earlier session ends.
 * @returns undefined if the session could not be stored
 */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { actor, role, credentialFingerprint, method }: Authenticated,
  deps: AdminDependencies & { readonly authenticator: auth.Authenticator },
): Promise<StoredSession | undefined> {
  const { store, clock, log, access, authenticator } = deps;
  const id = auth.newSessionId();
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + access.sessionHours * HOUR_MS);
  const session = { actor, role, credentialFingerprint, startedAt: at, expiresAt };
  const remoteAddress = access.remoteAddress(request.raw);
  const entry = { at, actor, role, remoteAddress, action: "session.begin", target: null };
  let auditId: number | undefined;
  try {
    auditId = await store.audit.begin({ ...entry, detail: { by: method }, outcome: null });
    const before = auth.readCookie("session", request, access.baseUrl);
    if (before !== undefined) await authenticator.endSession(auth.sha256Of(before));
    await store.sessions.create(auth.sha256Of(id), session);
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
