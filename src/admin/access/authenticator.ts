import { EventEmitter } from "node:events";
import type { FastifyRequest } from "fastify";
import type { StoredSession } from "../../store/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { Caller } from "./access.ts";
import { readCookie, sha256Of } from "./session-cookie.ts";
import type { LoginThrottle, TokenCheckResult } from "./token-check.ts";
import { createUnknownFlowLogger, type LogUnknownFlow, type RecordRefusal } from "./token-check.ts";

/** Authenticates requests. */
export interface Authenticator {
  /** Judges a token, in constant time and only so often. */
  checkToken(token: string, remoteAddress: string): TokenCheckResult;
  /** By `Authorization`, and without it by the session's cookie; undefined without either, or with one that is none any more. */
  authenticate(
    request: FastifyRequest,
  ): Promise<Caller | Exclude<TokenCheckResult, { verdict: "right" }> | undefined>;
  /** Ends a session for every process, and tells those who wait for it in this one. */
  endSession(idSha256: string): Promise<void>;
  /** @param listener called for every session that ends by `endSession` */
  onSessionEnd(listener: (idSha256: string) => void): void;
  readonly loginThrottle: LoginThrottle;
  readonly recordRefusal: RecordRefusal;
  readonly logUnknownFlow: LogUnknownFlow;
}

/** The actor of a request with a token. */
export const TOKEN_ACTOR = "token";

export function createAuthenticator({
  access,
  store,
  clock,
  log,
  tokenCheck,
}: AdminDependencies): Authenticator {
  const { check, loginThrottle, recordRefusal, configured } = tokenCheck;
  const sessionEnds = new EventEmitter<{ ended: [idSha256: string] }>();

  /**
   * A changed token or role, or removal from a list, ends the sessions that were
   * started with it.
   */
  function isCredentialCurrent({ credentialFingerprint, role }: StoredSession): boolean {
    if (credentialFingerprint === access.provider?.fingerprint) return true;
    return configured.some(
      (token) => token.credentialFingerprint === credentialFingerprint && token.role === role,
    );
  }

  async function sessionCaller(request: FastifyRequest): Promise<Caller | undefined> {
    const id = readCookie("session", request, access.baseUrl);
    if (id === undefined) return undefined;
    const idSha256 = sha256Of(id);
    const session = await store.sessions.find(idSha256, clock.now());
    if (session === undefined) return undefined;
    if (!isCredentialCurrent(session)) return undefined;
    return { actor: session.actor, role: session.role, session: { idSha256, expiresAt: session.expiresAt } };
  }

  return {
    checkToken: check,
    async endSession(idSha256) {
      await store.sessions.end(idSha256);
      sessionEnds.emit("ended", idSha256);
    },
    onSessionEnd: (listener) => void sessionEnds.on("ended", listener),
    loginThrottle,
    recordRefusal,
    logUnknownFlow: createUnknownFlowLogger(clock, log),
    async authenticate(request) {
      const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? "") ?? [];
      if (token === undefined) return request.headers.authorization ? undefined : sessionCaller(request);
      const judged = check(token, access.remoteAddress(request.raw));
      return judged.verdict === "right" ? { actor: TOKEN_ACTOR, role: judged.role, session: null } : judged;
    },
  };
}
