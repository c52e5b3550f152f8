import type { Failed, Refused } from "../domain/index.ts";

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
  readonly secret: "current" | "previous";
}

/** An authentic request; more than one credential where several schemes must agree. */
export interface Verified {
  readonly verified: readonly Credential[];
}

/** Failed only where it cannot be told: the keys of the platform cannot be fetched, say. */
export type Verdict = Verified | Refused | Failed;

/** One way to authenticate a source's callbacks (SPEC 5). */
export interface Scheme {
  /** RFC 9110 §11.6.1: what a 401 says would be accepted. */
  readonly challenge: string;
  verify(request: SignedRequest): Verdict | Promise<Verdict>;
}
