import type { Config, JwtConfig } from "../../config/index.ts";
import { sha256Hex, signHmac } from "../../sources/index.ts";

export type Authentication = Config["authentication"];

/** Only the platform, which has the private key, can make the credentials of `AUTH_METHOD`. */
export class CannotSignError extends Error {
  override readonly name = "CannotSignError";
}

/**
 * The headers of a callback with the credentials that `AUTH_METHOD` asks for: the first choice that can be made here.
 * @param type the event type of `X-Event-Type`; undefined: the header is left out
 * @throws CannotSignError
 */
export async function authenticHeaders(
  { methods, signing, token, jwt }: Authentication,
  body: string,
  type: string | undefined,
): Promise<Record<string, string>> {
  const choice = methods.find((all) => !all.includes("jwt") || jwt?.keys.from === "secrets");
  if (choice === undefined)
    throw new CannotSignError(
      `AUTH_METHOD: only the platform, which holds the private key, can make a JWT with ${jwt?.algorithm}; ` +
        "for a trial use JWT_ALGORITHM=HS256 with JWT_SECRET",
    );
  return {
    ...unsignedHeaders(type),
    ...(choice.includes("hmac") && { "x-signature": signHmac(signing.secrets[0] ?? "", Buffer.from(body)) }),
    ...(choice.includes("token") ? tokenHeader(token.header, token.tokens[0] ?? "") : {}),
    ...(choice.includes("jwt") && jwt !== null ? tokenHeader(jwt.header, await signJwt(jwt, body)) : {}),
  };
}

export function unsignedHeaders(type: string | undefined): Record<string, string> {
  return {
    "content-type": "application/json",
    "x-timestamp": String(Math.floor(Date.now() / 1000)),
    ...(type === undefined ? {} : { "x-event-type": type }),
  };
}

function tokenHeader(header: string, token: string): Record<string, string> {
  return { [header]: header.toLowerCase() === "authorization" ? `Bearer ${token}` : token };
}

async function signJwt({ keys, algorithm, issuer, audience, bodyClaim }: JwtConfig, body: string) {
  const { SignJWT } = await import("jose");
  const [secret = ""] = keys.from === "secrets" ? keys.secrets : [];
  const claims = bodyClaim === null ? {} : { [bodyClaim]: sha256Hex(body) };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime("5 minutes")
    .sign(Buffer.from(secret));
}
