import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "../admin-deps.ts";
import { operation } from "../operation.ts";
import type { Caller } from "./access.ts";
import type { SessionView, SignInView } from "./access-shapes.ts";
import { beginSession } from "./begin-session.ts";
import { BY_TOKEN, type Door } from "./door.ts";
import { tooMany } from "./guard.ts";
import { setCookie } from "./session-cookie.ts";

const METHODS = operation({
  summary: "How one can sign in",
  isOpen: true,
  answers: { 200: { says: "So.", content: "SignIn" } },
});
const BEGIN = operation({
  summary: "Sign in with a token",
  description:
    "For browsers: the session is in an HttpOnly cookie. Scripts have no use for one, and send the token with each request.",
  isOpen: true,
  action: "session.begin",
  body: {
    type: "object",
    required: ["token"],
    properties: { token: { type: "string", pattern: "^[\\x21-\\x7e]{1,1024}$" } },
    additionalProperties: false,
  },
  answers: {
    200: { says: "Signed in, and the cookie is set.", content: "Session" },
    401: { says: "It is no token of this receiver." },
    403: { says: "It was sent by another page than the receiver's own." },
    429: { says: "Too many wrong ones came from this address; `Retry-After` says how long to wait." },
    503: { says: "It cannot be written down just now." },
  },
});
const LOOK = operation({
  summary: "Who one is, and may do",
  answers: { 200: { says: "It is you.", content: "Session" } },
});
const END = operation({
  summary: "Sign out",
  description: "The session ends at once, for every process. A token is not ended by it.",
  action: "session.end",
  role: "viewer",
  answers: { 204: { says: "It has ended." } },
});

/** `GET /api/v1/sign-in`, and `POST`, `GET` and `DELETE /api/v1/session`. */
export function registerSessions(app: FastifyInstance, deps: AdminDeps, door: Door): void {
  const { access, about } = deps;
  app.get("/api/v1/sign-in", { schema: METHODS }, async (): Promise<SignInView> => {
    const { provider } = access;
    return {
      methods: provider === null ? ["token"] : ["token", "oidc"],
      oidc_label: provider?.label ?? null,
      environment: about.environment,
    };
  });
  app.post<{ Body: { token: string } }>("/api/v1/session", { schema: BEGIN }, async (request, reply) => {
    const judged = door.judge(request.body.token, access.remoteAddress(request.raw));
    if (judged.verdict === "too many") {
      const { status, error, headers = {} } = tooMany(judged.waitSeconds);
      return reply.code(status).headers(headers).send({ error });
    }
    if (judged.verdict === "wrong") {
      const error = "this is neither ADMIN_TOKEN nor ADMIN_VIEWER_TOKEN of this receiver";
      return reply.code(401).header("www-authenticate", 'Bearer realm="admin"').send({ error });
    }
    const session = await beginSession(request, reply, { who: BY_TOKEN, by: "token", ...judged }, deps, door);
    if (session === undefined)
      return reply.code(503).send({ error: "the session cannot be written just now" });
    return reply.send(viewOf(session, session.expiresAt, deps));
  });
  app.get("/api/v1/session", { schema: LOOK }, async ({ caller }) => {
    const { who, role, session } = caller as Caller;
    return viewOf({ who, role }, session?.expiresAt ?? null, deps);
  });
  app.delete("/api/v1/session", { schema: END }, async (request, reply) => {
    const session = request.caller?.session ?? null;
    if (session !== null) await door.endSession(session.idSha256);
    return reply
      .header("set-cookie", setCookie("session", request, access.baseUrl, "", 0))
      .code(204)
      .send();
  });
}

function viewOf(
  { who, role }: Pick<Caller, "who" | "role">,
  expiresAt: Date | null,
  { about, sandbox }: AdminDeps,
): SessionView {
  const expires_at = expiresAt?.toISOString() ?? null;
  return { who, role, expires_at, ...about, sandbox: sandbox !== null };
}
