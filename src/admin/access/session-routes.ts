import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Role, StoredSession } from "../../store/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { operation } from "../operation.ts";
import type { Caller } from "./access.ts";
import type { SessionView, SignInView } from "./access-schemas.ts";
import { type Authenticator, TOKEN_ACTOR } from "./authenticator.ts";
import { tooManyAttempts } from "./guard.ts";
import { newSessionId, readCookie, setCookie, sha256Of } from "./session-cookie.ts";

const METHODS = operation({
  summary: "Sign-in methods",
  isPublic: true,
  responses: { 200: { description: "The methods.", content: "SignIn" } },
});
const START = operation({
  summary: "Sign in with a token",
  description:
    "For browsers: the session is in an HttpOnly cookie. Scripts have no use for one, and send the token with each request.",
  isPublic: true,
  action: "session.begin",
  body: {
    type: "object",
    required: ["token"],
    properties: { token: { type: "string", pattern: "^[\\x21-\\x7e]{1,1024}$" } },
    additionalProperties: false,
  },
  responses: {
    200: { description: "Signed in, and the cookie is set.", content: "Session" },
    401: { description: "The token is not valid." },
    403: { description: "The request came from another origin." },
    429: { description: "Too many wrong ones came from this address; `Retry-After` says how long to wait." },
    503: { description: "The session cannot be stored right now." },
  },
});
const CURRENT = operation({
  summary: "The current session and its role",
  responses: { 200: { description: "The session.", content: "Session" } },
});
const END = operation({
  summary: "Sign out",
  description: "The session ends at once, for every process. A token is not ended by it.",
  action: "session.end",
  role: "viewer",
  responses: { 204: { description: "It has ended." } },
});

/** `GET /api/v1/sign-in`, and `POST`, `GET` and `DELETE /api/v1/session`. */
export function registerSessionRoutes(
  app: FastifyInstance,
  deps: AdminDependencies,
  authenticator: Authenticator,
): void {
  const { access, about } = deps;
  app.get("/api/v1/sign-in", { schema: METHODS }, async (): Promise<SignInView> => {
    const { provider } = access;
    return {
      methods: provider === null ? ["token"] : ["token", "oidc"],
      oidc_label: provider?.label ?? null,
      environment: about.environment,
    };
  });
  app.post<{ Body: { token: string } }>("/api/v1/session", { schema: START }, async (request, reply) => {
    const judged = authenticator.checkToken(request.body.token, access.remoteAddress(request.raw));
    if (judged.verdict === "too many") {
      const { status, error, headers = {} } = tooManyAttempts(judged.waitSeconds);
      return reply.code(status).headers(headers).send({ error });
    }
    if (judged.verdict === "wrong") {
      const error = "this is neither ADMIN_TOKEN nor ADMIN_VIEWER_TOKEN of this receiver";
      return reply.code(401).header("www-authenticate", 'Bearer realm="admin"').send({ error });
    }
    const session = await startSession(
      request,
      reply,
      { actor: TOKEN_ACTOR, method: "token", ...judged },
      deps,
      authenticator,
    );
    if (session === undefined)
      return reply.code(503).send({ error: "the session cannot be stored right now" });
    return reply.send(sessionView(session, session.expiresAt, deps));
  });
  app.get("/api/v1/session", { schema: CURRENT }, async ({ caller }) => {
    const { actor, role, session } = caller as Caller;
    return sessionView({ actor, role }, session?.expiresAt ?? null, deps);
  });
  app.delete("/api/v1/session", { schema: END }, async (request, reply) => {
    const session = request.caller?.session ?? null;
    if (session !== null) await authenticator.endSession(session.idSha256);
    return reply
      .header("set-cookie", setCookie("session", request, access.baseUrl, "", 0))
      .code(204)
      .send();
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

/** An authenticated actor. */
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
  { store, clock, log, access }: AdminDependencies,
  authenticator: Pick<Authenticator, "endSession">,
): Promise<StoredSession | undefined> {
  const id = newSessionId();
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + access.sessionHours * HOUR_MS);
  const session = { actor, role, credentialFingerprint, startedAt: at, expiresAt };
  const remoteAddress = access.remoteAddress(request.raw);
  const entry = {
    at,
    actor,
    role,
    remoteAddress,
    action: "session.begin",
    target: null,
    detail: { by: method },
  };
  let auditId: number | undefined;
  try {
    auditId = await store.audit.begin({ ...entry, outcome: null });
    const before = readCookie("session", request, access.baseUrl);
    if (before !== undefined) await authenticator.endSession(sha256Of(before));
    await store.sessions.create(sha256Of(id), session);
    await store.audit.end(auditId, "done");
  } catch (error) {
    log.error({ err: error }, "sign-in failed: the session, or its row in the audit log, was not written");
    if (auditId !== undefined) await store.audit.end(auditId, "failed").catch(() => {});
    return undefined;
  }
  log.info({ actor, role, method, address: remoteAddress }, "an operator signed in");
  reply.header("set-cookie", setCookie("session", request, access.baseUrl, id, access.sessionHours * 3600));
  return session;
}
