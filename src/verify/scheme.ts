import { type Failed, type Refused, refused } from "../domain/index.ts";

/** Each header's values apart, names in lower case: `headersDistinct` of `node:http`. */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** What a scheme may look at: the bytes exactly as they arrived, never a decoded string. */
export interface SignedRequest {
  readonly headers: DistinctHeaders;
  readonly body: Uint8Array;
}

/** Which credential was accepted, so that an operator sees when an old one is out of use. */
export interface Credential {
  readonly method: "hmac" | "token" | "jwt";
  /** Its place among those that are configured: 0 is the current one, all others are on their way out. */
  readonly index: number;
}

/** An authentic request; more than one credential where several schemes must agree. */
export interface Verified {
  readonly verified: readonly Credential[];
}

/** Refused because there was no credential in the request, neither a right nor a wrong one. */
export interface Absent extends Refused {
  readonly isAbsent: true;
}

/** Failed only where it cannot be told: the keys of the platform cannot be fetched, say. */
export type Verdict = Verified | Refused | Failed;

/** One way to authenticate a source's callbacks (SPEC 5). */
export interface Scheme {
  /** RFC 9110 §11.6.1: what a 401 says would be accepted. */
  readonly challenge: string;
  /** Whether it does public-key work, or asks another server: where all must accept, it comes last. */
  readonly isCostly?: boolean;
  verify(request: SignedRequest): Verdict | Promise<Verdict>;
}

export function absent(code: "signature_missing" | "token_missing"): Absent {
  return { ...refused(code), isAbsent: true };
}

/** Whether the request came without any credential, so that another way to authenticate it may decide. */
export function isAbsent(verdict: Verdict): verdict is Absent {
  return "isAbsent" in verdict;
}
