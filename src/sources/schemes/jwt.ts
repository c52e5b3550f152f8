import { createHash, timingSafeEqual } from "node:crypto";
import type { errors, JWTPayload, JWTVerifyOptions } from "jose";
import { type Clock, type Failed, failed, isRefused, type Refused, refused } from "../../domain/index.ts";
import { decodeExactly } from "../formats/encoding.ts";
import type { HeldBody } from "../request.ts";
import { keysUnavailable } from "./fetched-keys.ts";
import { type JwsHeader, type JwtAlgorithm, type JwtKeys, type KeyCandidate, parseJwsHeader } from "./jwt-keys.ts";
import type { Scheme } from "./scheme.ts";
import { credentialHeader } from "./token.ts";
import type { TokenPlace } from "./token-place.ts";

export interface JwtOptions {
  /** The one algorithm that is accepted, whatever a token says (RFC 8725 §3.1). */
  readonly algorithm: JwtAlgorithm;
  readonly keys: JwtKeys;
  /** A header's name, which SPEC 5.3 reads, or how the platform sends its token. */
  readonly header: string | TokenPlace;
  /** One of them must be `iss`; null where the platform sends none. */
  readonly issuer: string | readonly string[] | null;
  /** One of them must be in `aud`; null where the platform sends none. */
  readonly audience: string | readonly string[] | null;
  readonly clockToleranceSeconds: number;
  /** The claim that holds the SHA-256 of the body; null leaves the body unprotected, or the token is the body. */
  readonly bodyClaim: string | null;
  /** How that claim is written: 64 lowercase digits of hex (the default), or base64 with its padding. */
  readonly bodyClaimEncoding?: "hex" | "base64";
  /** Default: `iss`, `aud` and `exp`. */
  readonly requiredClaims?: readonly string[];
  /** How old a token may be by its `iat`, which is required then. */
  readonly maxAgeSeconds?: number;
  /** Further conditions on the claims of a verified token. @returns the fault, naming the claim */
  readonly checkClaims?: (claims: JWTPayload) => string | undefined;
  readonly clock: Clock;
}

/** SPEC 5.3: a JSON Web Token (RFC 7519) with `iss`, `aud` and `exp`, its signature and its time checked. */
export function createJwtScheme(options: JwtOptions): Scheme {
  const { header, bodyClaim } = options;
  const place = typeof header === "string" ? credentialHeader(header) : header;
  return {
    challenge: place.challenge,
    isCostly: true,
    async verify(request) {
      const token = place.read(request);
      if (typeof token !== "string") return token;
      const jwsHeader = parseJwsHeader(token, place.maxLength);
      if (isRefused(jwsHeader)) return jwsHeader;
      const checked = await check(token, jwsHeader, { body: request.bodyReservation, ...options });
      if (checked.kind !== "signed") return checked;
      const { payload, index } = checked;
      const detail = options.checkClaims?.(payload);
      if (detail !== undefined) return refused("jwt_claims", { detail });
      const fault = bodyClaim === null ? undefined : bodyFault(payload, bodyClaim, options, request.body);
      return fault ?? { verified: [{ method: "jwt", index }] };
    },
  };
}

interface CheckedToken {
  readonly kind: "signed";
  readonly payload: JWTPayload;
  readonly index: number;
}

async function check(
  token: string,
  header: JwsHeader,
  { body, ...options }: JwtOptions & { readonly body: HeldBody | undefined },
): Promise<CheckedToken | Refused | Failed> {
  if (header.alg !== options.algorithm)
    return refused("jwt_malformed", { detail: `alg: expected ${options.algorithm}` });
  try {
    const candidates = await options.keys.candidates(header, body);
    if ("kind" in candidates) return candidates;
    const first = await tryKeys(token, candidates, options);
    if (first.kind !== "undecided") return first;
    const renewed = await options.keys.refreshed(header, body);
    const last = renewed.length === 0 ? first : await tryKeys(token, renewed, options);
    if (last.kind !== "undecided") return last;
    // The key that cannot be used may be the one that made the signature.
    if (last.fault !== undefined) return failed("keys_unavailable", last.fault);
    if (candidates.length + renewed.length > 0)
      return refused("jwt_signature", { detail: "no key made the signature" });
    const lacking = header.kid === undefined ? "is of its algorithm" : "has its kid";
    return refused("jwt_signature", { detail: `no key ${lacking}` });
  } catch (error) {
    return keysUnavailable(error);
  }
}

/** The last time of a `Date`. JSON's 1e400 is read as infinite, and a token with it would never expire. */
const MAX_SECONDS = 8.64e12;

/** @returns `undecided` where no key made the signature, with the fault of the first key that could not be tried */
async function tryKeys(
  token: string,
  candidates: readonly KeyCandidate[],
  options: JwtOptions,
): Promise<CheckedToken | Refused | { readonly kind: "undecided"; readonly fault: unknown }> {
  let fault: unknown;
  // Loaded by those whose platform sends tokens, and not at every start.
  const { errors, jwtVerify } = await import("jose");
  for (const candidate of candidates) {
    if ("fault" in candidate) {
      fault ??= candidate.fault;
      continue;
    }
    try {
      const { payload } = await jwtVerify(token, candidate.key, verifyOptions(options));
      const endless = (["exp", "nbf", "iat"] as const).find((name) => Math.abs(payload[name] ?? 0) > MAX_SECONDS);
      if (endless !== undefined)
        return refused("jwt_claims", { detail: `"${endless}" is no time: more than ${MAX_SECONDS} s from 1970` });
      return { kind: "signed", payload, index: candidate.index };
    } catch (error) {
      const result = classifyJoseError(error, errors, options.clock);
      if (isRefused(result)) return result;
      if (result === "key_fault") fault ??= error;
    }
  }
  return { kind: "undecided", fault };
}

function verifyOptions(options: JwtOptions): JWTVerifyOptions {
  const { issuer, audience, maxAgeSeconds, requiredClaims = ["iss", "aud", "exp"] } = options;
  return {
    algorithms: [options.algorithm],
    ...(issuer === null ? {} : { issuer: [issuer].flat() }),
    ...(audience === null ? {} : { audience: [audience].flat() }),
    ...(maxAgeSeconds === undefined ? {} : { maxTokenAge: maxAgeSeconds }),
    clockTolerance: options.clockToleranceSeconds,
    currentDate: options.clock.now(),
    requiredClaims: [...requiredClaims],
  };
}

/** Of what `jose` throws: a refusal is the token's fault, whatever key there is; the others are of one key. */
function classifyJoseError(error: unknown, known: typeof errors, clock: Clock): Refused | "other_key" | "key_fault" {
  if (error instanceof known.JWSSignatureVerificationFailed) return "other_key";
  // A payload that is no claims set is found only after its signature was.
  if (error instanceof known.JWTInvalid) return refused("jwt_claims", { detail: error.message });
  if (error instanceof known.JWTExpired || error instanceof known.JWTClaimValidationFailed)
    return refused("jwt_claims", { detail: claimFault(error, clock.now().getTime() / 1_000) });
  if (error instanceof known.JWSInvalid) return refused("jwt_malformed", { detail: error.message });
  return "key_fault";
}

type ClaimError = errors.JWTExpired | errors.JWTClaimValidationFailed;

/** A wrong claim of a token that a known key has signed. @param now in seconds since the epoch */
function claimFault({ claim, reason, message, payload }: ClaimError, now: number): string {
  const time = payload[claim];
  if (reason !== "check_failed" || typeof time !== "number") return message;
  if (claim === "nbf") return `"nbf" is in ${Math.round(time - now)} s`;
  return claim === "exp" || claim === "iat" ? `"${claim}" was ${Math.round(now - time)} s ago` : message;
}

const SHA256_BYTES = 32;

/** A token by itself says nothing of the body; the claim binds the two together. */
function bodyFault(
  payload: JWTPayload,
  claim: string,
  { bodyClaimEncoding: encoding = "hex" }: JwtOptions,
  body: Uint8Array,
): Refused | undefined {
  const value = payload[claim];
  const claimed = typeof value === "string" ? decodeExactly(value, encoding) : undefined;
  if (claimed?.length !== SHA256_BYTES) {
    const form = encoding === "hex" ? "64 lowercase hexadecimal digits" : "base64";
    return refused("jwt_claims", { detail: `\`${claim}\`: expected the SHA-256 of the body, ${form}` });
  }
  const digest = createHash("sha256").update(body).digest();
  return timingSafeEqual(digest, claimed) ? undefined : refused("jwt_body_mismatch");
}
