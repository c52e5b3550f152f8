import { createHash } from "node:crypto";
import type { Config, JwtConfig } from "../config/index.ts";
import { signHmac } from "../verify/index.ts";
import { UserMistake } from "./user-mistake.ts";

export interface SignedCallback {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A callback as a platform would send it (SPEC 4.1): the signature covers exactly these bytes. */
export function signedCallback(secret: string, event: object, type: string): SignedCallback {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "x-signature": signHmac(secret, Buffer.from(body)),
      "x-timestamp": String(Math.floor(Date.now() / 1000)),
      "x-event-type": type,
    },
  };
}

/**
 * The same with the credentials that `AUTH_METHOD` asks for: the first choice that can be made here.
 * @throws UserMistake when only the platform's private key could make one
 */
export async function authenticCallback(
  config: Config,
  event: object,
  type: string,
): Promise<SignedCallback> {
  const { methods, signing, token, jwt } = config.authentication;
  const choice = methods.find((all) => !all.includes("jwt") || jwt?.keys.from === "secrets");
  if (choice === undefined) {
    throw new UserMistake(
      `AUTH_METHOD: only the platform, which holds the private key, can make a JWT with ${jwt?.algorithm}; ` +
        "for a trial use JWT_ALGORITHM=HS256 with JWT_SECRET",
    );
  }
  const { headers, body } = signedCallback(signing.secrets[0] ?? "", event, type);
  const { "x-signature": signature, ...others } = headers;
  return {
    body,
    headers: {
      ...others,
      ...(choice.includes("hmac") && signature !== undefined ? { "x-signature": signature } : {}),
      ...(choice.includes("token") ? carried(token.header, token.tokens[0] ?? "") : {}),
      ...(choice.includes("jwt") && jwt !== null ? carried(jwt.header, await mint(jwt, body)) : {}),
    },
  };
}

function carried(header: string, token: string): Record<string, string> {
  return { [header]: header.toLowerCase() === "authorization" ? `Bearer ${token}` : token };
}

async function mint(
  { keys, algorithm, issuer, audience, bodyClaim }: JwtConfig,
  body: string,
): Promise<string> {
  const { SignJWT } = await import("jose");
  const [secret = ""] = keys.from === "secrets" ? keys.secrets : [];
  const claims = bodyClaim === null ? {} : { [bodyClaim]: createHash("sha256").update(body).digest("hex") };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime("5 minutes")
    .sign(Buffer.from(secret));
}
