import type { Refused } from "../domain/index.ts";

/** Each header's values apart, names in lower case: `headersDistinct` of `node:http`. */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** What a scheme may look at: the bytes exactly as they arrived, never a decoded string. */
export interface SignedRequest {
  readonly headers: DistinctHeaders;
  readonly body: Uint8Array;
}

/** Which of the configured secrets it was, so that an operator sees when the old one is out of use. */
export interface Verified {
  readonly verified: "current" | "previous";
}

/** One way to authenticate a source's callbacks (SPEC 5). */
export interface Scheme {
  verify(request: SignedRequest): Verified | Refused;
}
