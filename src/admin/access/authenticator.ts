import { hash, timingSafeEqual } from "node:crypto";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { type Clock, createWindowLimit, HOUR_MS, type Log, WindowMap } from "../../domain/index.ts";
import { cookieOf, type Identity, type SignIn } from "../../oauth/index.ts";
import { sha256Hex } from "../../sources/index.ts";
import type { Audit, Role, Store, StoredSession } from "../../store/index.ts";
import { HttpError } from "../operation.ts";

export interface AdminAccess {
  readonly tokens: readonly { readonly token: string; readonly role: Role }[];
  readonly provider: OidcProvider | null;
  readonly sessionHours: number;
  /** The origin that operators use; null where it is the listener's. */
  readonly baseUrl: string | null;
  /** Whether a request may name this host. On a loopback address only names of this machine: others are DNS rebinding. */
  readonly isAllowedHost: (hostname: string) => boolean;
  /** The client's address, through trusted proxies only. */
  readonly remoteAddress: (message: IncomingMessage) => string;
  /** The key under which wrong tokens are counted. @param address as `remoteAddress` returns it */
  readonly rateKey: (address: string) => string;
  /** A keyed hash: distinguishes texts without revealing them. */
  readonly fingerprint: (text: string) => string;
}

export interface OidcProvider {
  readonly signIn: SignIn;
  readonly label: string;
  /** Undefined for a person without access. */
  readonly roleOf: (person: Identity) => Role | undefined;
  /** A fingerprint of these settings: with others the sessions end. */
  readonly fingerprint: string;
}

/** The parts of it that every request is checked with. */
export type RequestAccess = Pick<AdminAccess, "baseUrl" | "isAllowedHost" | "remoteAddress">;

export interface Caller {
  readonly actor: string;
  readonly role: Role;
  /** Null with a token, which each request sends, and in an application, whose session it is. */
  readonly session: { readonly idSha256: string; readonly expiresAt: Date } | null;
  /** Whether a page of another origin can make a browser send what authenticates the caller, such as a cookie. */
  readonly isAmbient: boolean;
  /** Whether the caller of a long response may go on reading; asked for again and again. */
  readonly isStillAllowed?: () => Promise<boolean>;
}

/** Finds the caller of a request. */
export interface Authenticator {
  /** @throws HttpError 401 without a valid one, 429 */
  authenticate(request: FastifyRequest): Promise<Caller>;
  onSessionEnd(listener: (idSha256: string) => void): void;
}

export const TOKEN_ACTOR = "token";
export const CHALLENGE = { "www-authenticate": 'Bearer realm="admin"' };

/** Of the server: by tokens, and by the sessions that it keeps. */
export type SessionAuthenticator = ReturnType<typeof createAuthenticator>;

export function createAuthenticator(deps: {
  readonly access: AdminAccess;
  readonly store: Pick<Store, "sessions">;
  readonly clock: Clock;
  readonly tokenCheck: TokenCheck;
}) {
  const { access, store, clock, tokenCheck } = deps;
  const sessionEnds = new EventEmitter<{ ended: [idSha256: string] }>();

  /** A changed token or role, or removal from a list, ends the sessions that were started with it. */
  function isCredentialCurrent({ credentialFingerprint, role }: StoredSession): boolean {
    if (credentialFingerprint === access.provider?.fingerprint) return true;
    return tokenCheck.configured.some(
      (token) => token.credentialFingerprint === credentialFingerprint && token.role === role,
    );
  }

  async function sessionCaller(request: FastifyRequest): Promise<Caller | undefined> {
    const idSha256 = sessionHashOf(request, access.baseUrl);
    if (idSha256 === undefined) return undefined;
    const now = clock.now();
    const session = await store.sessions.find(idSha256, now);
    if (session === undefined || !isCredentialCurrent(session)) return undefined;
    const { actor, role, startedAt } = session;
    // ADMIN_SESSION_HOURS may have been lowered since it started.
    const longest = startedAt.getTime() + access.sessionHours * HOUR_MS;
    const expiresAt = new Date(Math.min(session.expiresAt.getTime(), longest));
    return expiresAt <= now ? undefined : { actor, role, session: { idSha256, expiresAt }, isAmbient: true };
  }

  async function caller(request: FastifyRequest): Promise<Caller | undefined> {
    const { authorization = "" } = request.headers;
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization) ?? [];
    if (token === undefined) return authorization === "" ? sessionCaller(request) : undefined;
    const checked = tokenCheck.check(token, access.remoteAddress(request.raw));
    if (checked.result === "too many") throw tooManyAttempts(checked.waitSeconds);
    if (checked.result === "wrong") return undefined;
    return { actor: TOKEN_ACTOR, role: checked.role, session: null, isAmbient: false };
  }

  return {
    /** By `Authorization`, and without it by the session's cookie. @throws HttpError 401 without a valid one, 429 */
    async authenticate(request: FastifyRequest): Promise<Caller> {
      const authenticated = await caller(request);
      if (authenticated !== undefined) return authenticated;
      throw new HttpError(401, "send the admin token: Authorization: Bearer <ADMIN_TOKEN>", CHALLENGE);
    },
    /** Ends a session for every process, and calls the listeners of this one. */
    async endSession(idSha256: string): Promise<void> {
      await store.sessions.end(idSha256);
      sessionEnds.emit("ended", idSha256);
    },
    onSessionEnd: (listener: (idSha256: string) => void) => void sessionEnds.on("ended", listener),
  };
}

export function tooManyAttempts(waitSeconds: number): HttpError {
  const error = `too many wrong tokens came from this address; try again in ${waitSeconds} s`;
  return new HttpError(429, error, { "retry-after": String(waitSeconds) });
}

/** Checks tokens on every route that takes one, with one count of wrong ones for each address. */
export type TokenCheck = ReturnType<typeof createTokenCheck>;

export function createTokenCheck(deps: {
  readonly access: Pick<AdminAccess, "tokens" | "fingerprint" | "rateKey">;
  readonly store: Pick<Store, "audit">;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { access, store, clock, log } = deps;
  const configured = access.tokens.map(({ token, role }) => {
    return {
      role,
      credentialFingerprint: access.fingerprint(`token\n${token}`),
      digest: hash("sha256", token, "buffer"),
    };
  });
  const loginThrottle = createLoginThrottle(clock);
  const recordRefusal = createRefusalRecorder(store.audit, clock, log);

  /** In constant time, and only so often for each address. */
  function check(token: string, remoteAddress: string) {
    const key = access.rateKey(remoteAddress);
    const waitSeconds = loginThrottle.secondsToWait(key);
    if (waitSeconds > 0) return { result: "too many", waitSeconds } as const;
    // All digests are compared, so that the time reveals neither a length nor which token matched.
    const sentDigest = hash("sha256", token, "buffer");
    const [match] = configured.filter(({ digest }) => timingSafeEqual(digest, sentDigest));
    if (match !== undefined) {
      const { role, credentialFingerprint } = match;
      return { result: "right", role, credentialFingerprint } as const;
    }
    if (loginThrottle.recordFailure(key, token)) recordRefusal({ remoteAddress, actor: null, reason: "wrong token" });
    return { result: "wrong" } as const;
  }

  return { check, loginThrottle, recordRefusal, configured };
}

/** How many different wrong tokens one address may send in a minute. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** A repeated wrong token counts once: a script with an outdated token must not lock out its address. */
function createLoginThrottle(clock: Clock) {
  const windows = new WindowMap<{ readonly resetAt: Date; readonly digests: Set<string> }>(MAX_ADDRESSES);
  return {
    /** Seconds until the address may try again; 0 where it may now. */
    secondsToWait(address: string): number {
      const now = clock.now();
      const window = windows.get(address, WINDOW_MS, now);
      if (window === undefined || window.digests.size < MAX_FAILURES) return 0;
      return Math.ceil((window.resetAt.getTime() - now.getTime()) / 1000);
    },
    /** Counts a wrong token. @returns false for one that has been counted already */
    recordFailure(address: string, token: string): boolean {
      const now = clock.now();
      const resetAt = new Date(now.getTime() + WINDOW_MS);
      const { digests } = windows.get(address, WINDOW_MS, now) ?? windows.set(address, { resetAt, digests: new Set() });
      const digest = hash("sha256", token, "base64");
      if (digests.has(digest)) return false;
      digests.add(digest);
      return true;
    },
  };
}

/** How many rows refused requests may cause in an hour, in each process. */
const MAX_ROWS_PER_HOUR = 60;

export interface Refusal {
  readonly remoteAddress: string;
  readonly actor: string | null;
  /** Fixed words, and nothing that the client wrote. */
  readonly reason: string;
  /** The action that a viewer asked for. */
  readonly attempt?: { readonly role: Role; readonly action: string; readonly target: string | null };
}

/**
 * Writes refused requests to the log and the audit log, without waiting, and never throws. Any client can cause refusals,
 * so that they are bounded: the next row counts those left out before it.
 */
export function createRefusalRecorder(audit: Audit, clock: Clock, log: Log): (refusal: Refusal) => void {
  const mayWrite = createWindowLimit(MAX_ROWS_PER_HOUR, HOUR_MS);
  let leftOut = 0;
  return ({ remoteAddress, actor, reason, attempt }) => {
    const now = clock.now();
    if (!mayWrite(now)) {
      leftOut += 1;
      return;
    }
    const detail = { reason, ...(leftOut === 0 ? {} : { left_out_before: leftOut }) };
    leftOut = 0;
    const what = attempt ?? { role: null, action: "session.refused", target: null };
    log.warn({ address: remoteAddress, actor, ...what, ...detail }, "the admin API refused a request");
    audit
      .begin({ at: now, actor, remoteAddress, ...what, detail, outcome: "refused" })
      .catch((error: unknown) => log.error({ err: error }, "the audit log could not be written"));
  };
}

/** A signed-in caller's `session`, or the `flow` of a sign-in at the provider that is under way. */
type CookieKind = "session" | "flow";

const SHAPES = { session: /^[\w-]{43}$/, flow: /^[\w-]{1,2000}$/ } as const;
/** The provider redirects the browser back, and with `Strict` the browser would not send the flow's cookie. */
const SAME_SITE = { session: "Strict", flow: "Lax" } as const;

/** The hash of the session that the request's cookie names; undefined without one. */
export function sessionHashOf(request: FastifyRequest, baseUrl: string | null): string | undefined {
  const id = readCookie("session", request, baseUrl);
  return id === undefined ? undefined : sha256Hex(id);
}

export function readCookie(kind: CookieKind, { headers }: FastifyRequest, baseUrl: string | null): string | undefined {
  return cookieOf([headers.cookie ?? ""], cookieName(kind, headers.host, baseUrl), SHAPES[kind]);
}

/** The header that sets the cookie, or deletes it by default. */
export function setCookie(
  kind: CookieKind,
  { headers }: FastifyRequest,
  baseUrl: string | null,
  { value, maxAgeSeconds } = { value: "", maxAgeSeconds: 0 },
): string {
  const secure = baseUrl?.startsWith("https:") ? " Secure;" : "";
  const name = cookieName(kind, headers.host, baseUrl);
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds};${secure} HttpOnly; SameSite=${SAME_SITE[kind]}`;
}

/**
 * `__Host-` keeps other hosts from setting it (RFC 6265bis §4.1.3.2), only with TLS. A port other than the default is
 * part of the name. Cookies ignore ports: two receivers on one host would sign each other's operators out.
 */
function cookieName(kind: CookieKind, host: string | undefined, baseUrl: string | null): string {
  if (baseUrl?.startsWith("https:")) {
    const { port } = new URL(baseUrl);
    return `__Host-oncehook-${kind}${port === "" ? "" : `-${port}`}`;
  }
  // The browser's port, which a container's mapping may have changed.
  return `oncehook-${kind}-${URL.parse(`http://${host}`)?.port || "80"}`;
}
