import type { FastifyReply, FastifyRequest } from "fastify";
import type { Role, StoredSession } from "../../store/index.ts";
import type { AdminDeps } from "../admin-deps.ts";
import type { Door } from "./door.ts";
import { newSessionId, readCookie, setCookie, sha256Of } from "./session-cookie.ts";

/** Somebody who has shown who they are. */
export interface Admitted {
  readonly who: string;
  readonly role: Role;
  /** A fingerprint of what they have shown. */
  readonly begunWith: string;
  readonly by: "token" | "oidc";
}

const HOUR_MS = 3_600_000;

/**
 * Signs somebody in, under an id that was never in use before, and sets the cookie. The session that the browser had ends.
 * @returns undefined where it could not be written down, so that nobody is signed in
 */
export async function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { who, role, begunWith, by }: Admitted,
  { store, clock, log, access }: AdminDeps,
  door: Pick<Door, "endSession">,
): Promise<StoredSession | undefined> {
  const id = newSessionId();
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + access.sessionHours * HOUR_MS);
  const session = { who, role, begunWith, begunAt: at, expiresAt };
  const remoteAddress = access.remoteAddress(request.raw);
  const entry = { at, who, role, remoteAddress, action: "session.begin", subject: null, detail: { by } };
  let auditId: number | undefined;
  try {
    auditId = await store.audit.begin({ ...entry, outcome: null });
    const before = readCookie("session", request, access.baseUrl);
    if (before !== undefined) await door.endSession(sha256Of(before));
    await store.sessions.begin(sha256Of(id), session);
    await store.audit.end(auditId, "done");
  } catch (error) {
    log.error(
      { err: error },
      "nobody can be signed in: the session, or its row in the audit log, was not written",
    );
    if (auditId !== undefined) await store.audit.end(auditId, "failed").catch(() => {});
    return undefined;
  }
  log.info({ who, role, by, address: remoteAddress }, "an operator signed in");
  reply.header("set-cookie", setCookie("session", request, access.baseUrl, id, access.sessionHours * 3600));
  return session;
}
