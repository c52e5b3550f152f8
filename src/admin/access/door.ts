import { EventEmitter } from "node:events";
import type { FastifyRequest } from "fastify";
import type { StoredSession } from "../../store/index.ts";
import type { AdminDeps } from "../admin-deps.ts";
import type { Caller } from "./access.ts";
import { createStrangers, type NoteRefusal, type NoteStranger } from "./refusals.ts";
import { readCookie, sha256Of } from "./session-cookie.ts";
import type { TokenVerdict } from "./token-check.ts";
import type { Tries } from "./tries.ts";

/** Finds out who somebody is. */
export interface Door {
  /** Judges a token, in constant time and only so often. */
  judge(token: string, remoteAddress: string): TokenVerdict;
  /** By `Authorization`, and without it by the session's cookie; undefined without either, or with one that is none any more. */
  callerOf(
    request: FastifyRequest,
  ): Promise<Caller | Exclude<TokenVerdict, { verdict: "right" }> | undefined>;
  /** Ends a session for every process, and tells those who wait for it in this one. */
  endSession(idSha256: string): Promise<void>;
  /** @param heard is told of every session that ends by `endSession` */
  onSessionEnd(heard: (idSha256: string) => void): void;
  readonly tries: Tries;
  readonly noteRefusal: NoteRefusal;
  readonly noteStranger: NoteStranger;
}

/** What stands in `who` for whoever has a token. */
export const BY_TOKEN = "token";

export function createDoor({ access, store, clock, log, tokenCheck }: AdminDeps): Door {
  const { judge, tries, noteRefusal, known } = tokenCheck;
  const endings = new EventEmitter<{ ended: [idSha256: string] }>();

  /**
   * A token that was changed, or stands for another role now, or somebody who was taken off a list, ends the sessions that were
   * begun with it.
   */
  function isAsBegun({ begunWith, role }: StoredSession): boolean {
    if (begunWith === access.provider?.fingerprint) return true;
    return known.some((token) => token.begunWith === begunWith && token.role === role);
  }

  async function ofSession(request: FastifyRequest): Promise<Caller | undefined> {
    const id = readCookie("session", request, access.baseUrl);
    if (id === undefined) return undefined;
    const idSha256 = sha256Of(id);
    const session = await store.sessions.find(idSha256, clock.now());
    if (session === undefined) return undefined;
    if (!isAsBegun(session)) return undefined;
    return { who: session.who, role: session.role, session: { idSha256, expiresAt: session.expiresAt } };
  }

  return {
    judge,
    async endSession(idSha256) {
      await store.sessions.end(idSha256);
      endings.emit("ended", idSha256);
    },
    onSessionEnd: (heard) => void endings.on("ended", heard),
    tries,
    noteRefusal,
    noteStranger: createStrangers(clock, log),
    async callerOf(request) {
      const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? "") ?? [];
      if (token === undefined) return request.headers.authorization ? undefined : ofSession(request);
      const judged = judge(token, access.remoteAddress(request.raw));
      return judged.verdict === "right" ? { who: BY_TOKEN, role: judged.role, session: null } : judged;
    },
  };
}
