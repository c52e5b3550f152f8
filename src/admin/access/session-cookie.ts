import { createHash, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { cookieOf } from "../../oauth/index.ts";

const ID_BYTES = 32;
const ID = /^[\w-]{43}$/;
const SEALED = /^[\w-]{1,2000}$/;

/** `session` is who is signed in, `flow` a sign-in at the provider that is under way. */
export type CookieKind = "session" | "flow";

const SHAPES = { session: ID, flow: SEALED } as const;
/** A browser comes back from the provider by the provider's doing, where `Strict` would keep the cookie from it. */
const SAME_SITE = { session: "Strict", flow: "Lax" } as const;

/** 256 bits. */
export function newSessionId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

export function sha256Of(sessionId: string): string {
  return createHash("sha256").update(sessionId).digest("hex");
}

/** What a browser brings. */
export function readCookie(
  kind: CookieKind,
  request: FastifyRequest,
  baseUrl: string | null,
): string | undefined {
  const { cookie } = request.raw.headers;
  return cookie === undefined ? undefined : cookieOf([cookie], nameOf(kind, request, baseUrl), SHAPES[kind]);
}

/** The header that sets it. @param maxAgeSeconds 0 takes it away */
export function setCookie(
  kind: CookieKind,
  request: FastifyRequest,
  baseUrl: string | null,
  value: string,
  maxAgeSeconds: number,
): string {
  const secure = isSecure(baseUrl) ? " Secure;" : "";
  const name = nameOf(kind, request, baseUrl);
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds};${secure} HttpOnly; SameSite=${SAME_SITE[kind]}`;
}

/**
 * `__Host-` keeps other hosts from setting it (RFC 6265bis §4.1.3.2); without TLS there is no such thing. Since cookies know no ports
 * the name has it, but for the one that needs no saying: two receivers on one host would sign each other's operators out.
 */
function nameOf(kind: CookieKind, { headers }: FastifyRequest, baseUrl: string | null): string {
  if (baseUrl !== null && isSecure(baseUrl)) {
    const { port } = new URL(baseUrl);
    return `__Host-oncehook-${kind}${port === "" ? "" : `-${port}`}`;
  }
  // As the browser knows it, which a container's mapping may have changed.
  const port = URL.parse(`http://${headers.host}`)?.port || "80";
  return `oncehook-${kind}-${port}`;
}

function isSecure(baseUrl: string | null): boolean {
  return baseUrl?.startsWith("https:") ?? false;
}
