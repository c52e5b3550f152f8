import { createHmac } from "node:crypto";

const TYPE = "oncehook-sign-in+jwt";
const LIFETIME_SECONDS = 60;

interface SignedIn {
  /** Of the flow. An application that accepts each id once accepts each sign-in once. */
  readonly id: string;
  /** `user_id` of the handler's result; null where it has none. */
  readonly userId: string | null;
  /** The value that `oauth-start` was given; null for none. */
  readonly context: string | null;
}

/** A JWT (RFC 7519) that names who signed in, for a minute. @param audience OAUTH_SUCCESS_URL */
export function signResult(
  { id, userId, context }: SignedIn,
  { secret, audience, now }: { readonly secret: string; readonly audience: string; readonly now: Date },
): string {
  const iat = Math.floor(now.getTime() / 1000);
  const claims = { jti: id, sub: userId ?? undefined, context: context ?? undefined, aud: audience, iat };
  const text = [
    { alg: "HS256", typ: TYPE },
    { ...claims, exp: iat + LIFETIME_SECONDS },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

/**
 * Who signed in, from the parameter `sign_in` of OAUTH_SUCCESS_URL.
 * @param secret OAUTH_SUCCESS_SECRET @param successUrl OAUTH_SUCCESS_URL
 * @throws Error (of jose) for a token that is forged, older than a minute, or for another address
 */
export async function verifySignIn(token: string, secret: string, successUrl: string): Promise<SignedIn> {
  // Loaded here, since an import of the package loads this module.
  const { jwtVerify } = await import("jose");
  const { payload } = await jwtVerify<{ context?: string }>(token, new TextEncoder().encode(secret), {
    algorithms: ["HS256"],
    typ: TYPE,
    audience: new URL(successUrl).href,
    requiredClaims: ["jti", "exp"],
  });
  return { id: payload.jti ?? "", userId: payload.sub ?? null, context: payload.context ?? null };
}
