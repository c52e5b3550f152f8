import { type Failed, isRefused, type Refused, refused } from "../../domain/index.ts";
import type { SignedRequest, SignedText } from "../request.ts";

/** Which credential was accepted, so that an operator sees when an old one is out of use. */
export interface Credential {
  readonly method: "hmac" | "token" | "jwt" | "public_key" | "custom";
  /** Its index among the configured ones: 0 is the current one, all others are being rotated out. */
  readonly index: number;
}

/** An authentic request; more than one credential where several schemes must agree. */
export interface Verified {
  readonly verified: readonly Credential[];
  /** Left out where only the body was signed, or nothing. */
  readonly signedText?: SignedText;
}

/** Refused because there was no credential in the request, neither a right nor a wrong one. */
export interface MissingCredential extends Refused {
  readonly isCredentialMissing: true;
}

/** Failed only where authenticity cannot be decided, such as without the platform's keys. */
export type VerificationResult = Verified | Refused | Failed;

/** The names at which a scheme reads what proves a callback: no log shows what stands there. */
export interface CredentialPlaces {
  readonly headers?: readonly string[];
  /** Fields of the body, at any depth, and parameters of the query. */
  readonly fields?: readonly string[];
  /** A function of the configuration reads them and names none: each header and parameter may be one. */
  readonly areUnknown?: true;
}

/** One way to authenticate a source's callbacks (SPEC 5). */
export interface Scheme {
  /** RFC 9110 §11.6.1: what a 401 says would be accepted. */
  readonly challenge: string;
  /** Whether it does public-key work, or asks another server: where all must accept, it comes last. */
  readonly isCostly?: boolean;
  verify(request: SignedRequest): VerificationResult | Promise<VerificationResult>;
}

export function missingCredential(code: "signature_missing" | "token_missing", detail?: string): MissingCredential {
  return { ...refused(code, detail === undefined ? {} : { detail }), isCredentialMissing: true };
}

type SignatureFault =
  | `signature_${"missing" | "repeated" | "malformed" | "mismatch"}`
  | "timestamp_missing"
  | "timestamp_stale";

/** @param detail what was found and expected, naming the header; never a sender's text that has no known shape */
export function refuse(code: SignatureFault, detail: string): Refused {
  return code === "signature_missing" ? missingCredential(code, detail) : refused(code, { detail });
}

/** @param detail what was found and expected, and where */
export function malformed(detail: string): Refused {
  return refuse("signature_malformed", detail);
}

/** Names as a refusal shows them. The mask of logs takes `token: …` for a secret, but keeps a name in backticks. */
export const quoted = (names: readonly string[], separator = ", "): string =>
  names.map((name) => `\`${name}\``).join(separator);

/** Whether the request came without any credential, so that another way to authenticate it may decide. */
export function isCredentialMissing(result: VerificationResult): result is MissingCredential {
  return "isCredentialMissing" in result;
}

/**
 * Every scheme must accept the request; the first that does not decides. Costly ones come last. A request that fails a
 * cheap one is refused in any case, and must not make us ask another server.
 */
export function allOf(schemes: readonly Scheme[]): Scheme {
  const cheapFirst = schemes.toSorted((a, b) => Number(a.isCostly ?? false) - Number(b.isCostly ?? false));
  return combined(schemes, async (request) => {
    const verified: Credential[] = [];
    for (const scheme of cheapFirst) {
      const result = await scheme.verify(request);
      // Half of what must be there was there: the request is an attempt, and not one without a credential.
      if (isCredentialMissing(result) && verified.length > 0) return refused(result.code);
      if (!("verified" in result)) return result;
      verified.push(...result.verified);
    }
    return { verified };
  });
}

/** One scheme is enough. When none accepts, the refusal is that of the first whose credential was there. */
export function anyOf(schemes: readonly Scheme[]): Scheme {
  return combined(schemes, async (request) => {
    const refusals: (Refused | Failed)[] = [];
    for (const scheme of schemes) {
      const result = await scheme.verify(request);
      if ("verified" in result) return result;
      refusals.push(result);
    }
    const undecided = refusals.find((result) => !isRefused(result));
    return undecided ?? refusals.find((result) => !isCredentialMissing(result)) ?? (refusals[0] as Refused);
  });
}

function combined(schemes: readonly Scheme[], verify: (request: SignedRequest) => Promise<VerificationResult>): Scheme {
  const [only] = schemes;
  if (only === undefined) throw new TypeError("at least one scheme must authenticate a source");
  if (schemes.length === 1) return only;
  return { challenge: [...new Set(schemes.map(({ challenge }) => challenge))].join(", "), verify };
}
