import { createHash, timingSafeEqual } from "node:crypto";
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import { type Clock, type Failed, failed, isRefused, type Refused, refused } from "../domain/index.ts";
import { credentialHeader } from "./credential-header.ts";
import { headerOf } from "./jws-header.ts";
import { type JwtKeys, KeysUnavailable } from "./jwt-keys.ts";
import type { Scheme } from "./scheme.ts";

export type JwtAlgorithm = "HS256" | "RS256" | "PS256" | "ES256" | "EdDSA";

export interface JwtOptions {
  /** The one algorithm that is accepted, whatever a token says (RFC 8725 §3.1). */
  readonly algorithm: JwtAlgorithm;
  readonly keys: JwtKeys;
  readonly header: string;
  readonly issuer: string;
  readonly audience: string;
  readonly clockToleranceSeconds: number;
  /** The claim that holds the SHA-256 of the body as lowercase hex; null leaves the body unprotected. */
  readonly bodyClaim: string | null;
  readonly clock: Clock;
}

const BODY_HASH = /^[0-9a-f]{64}$/;

/** SPEC 5.3: a JSON Web Token (RFC 7519) with `iss`, `aud` and `exp`, its signature and its time checked. */
export function createJwtScheme(options: JwtOptions): Scheme {
  const { challenge, read } = credentialHeader(options.header);
  return {
    challenge,
    isCostly: true,
    async verify(request) {
      const token = read(request);
      if (typeof token !== "string") return token;
      const checked = await check(token, options);
      if ("ending" in checked) return checked;
      const fault =
        options.bodyClaim === null ? undefined : bodyFault(checked.payload, options.bodyClaim, request.body);
      return fault ?? { verified: [{ method: "jwt", index: checked.index }] };
    },
  };
}

interface Checked {
  readonly payload: JWTPayload;
  /** Which of the configured keys it was. */
  readonly index: number;
}

async function check(token: string, options: JwtOptions): Promise<Checked | Refused | Failed> {
  const header = headerOf(token);
  if (isRefused(header)) return header;
  if (header.alg !== options.algorithm) {
    return refused("jwt_malformed", { detail: `alg: expected ${options.algorithm}` });
  }
  try {
    const candidates = await options.keys.candidates(header);
    let last: unknown = new errors.JWKSNoMatchingKey();
    for (const [index, key] of candidates.entries()) {
      try {
        const { payload } = await jwtVerify(token, key, verifyOptions(options));
        return { payload, index };
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
        last = error;
      }
    }
    throw last;
  } catch (error) {
    return verdictOf(error);
  }
}

function verifyOptions(options: JwtOptions): JWTVerifyOptions {
  return {
    algorithms: [options.algorithm],
    issuer: options.issuer,
    audience: options.audience,
    clockTolerance: options.clockToleranceSeconds,
    currentDate: options.clock.now(),
    requiredClaims: ["iss", "aud", "exp"],
  };
}

function verdictOf(error: unknown): Refused | Failed {
  if (error instanceof KeysUnavailable) return failed("keys_unavailable", error);
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    return refused("jwt_claims", { detail: error.message });
  }
  // A payload that is no claims set is found only after its signature was.
  if (error instanceof errors.JWTInvalid) return refused("jwt_claims", { detail: error.message });
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) {
    return refused("jwt_signature", { detail: error.message });
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) {
    return refused("jwt_malformed", { detail: error.message });
  }
  throw error;
}

/** The token alone says nothing of the body; the claim binds the two together. */
function bodyFault(payload: JWTPayload, claim: string, body: Uint8Array): Refused | undefined {
  const value = payload[claim];
  if (typeof value !== "string" || !BODY_HASH.test(value)) {
    return refused("jwt_claims", {
      detail: `${claim}: expected the SHA-256 of the body, 64 lowercase hexadecimal digits`,
    });
  }
  const digest = createHash("sha256").update(body).digest();
  return timingSafeEqual(digest, Buffer.from(value, "hex")) ? undefined : refused("jwt_body_mismatch");
}
