import { createHash, timingSafeEqual } from "node:crypto";
import { refused } from "../domain/index.ts";
import { credentialHeader } from "./credential-header.ts";
import type { Scheme } from "./scheme.ts";

export interface TokenOptions {
  /** The current token first, then those that are being rotated out. */
  readonly tokens: readonly string[];
  readonly header: string;
}

/** SPEC 5.3: a fixed token in a header. It says who sent the request and nothing of what stands in it. */
export function createTokenScheme({ tokens, header }: TokenOptions): Scheme {
  const digests = tokens.map(digest);
  const { challenge, read } = credentialHeader(header);
  return {
    challenge,
    verify(request) {
      const token = read(request);
      if (typeof token !== "string") return token;
      const claimed = digest(token);
      const matches = digests.map((known) => timingSafeEqual(known, claimed));
      const index = matches.indexOf(true);
      return index === -1 ? refused("token_mismatch") : { verified: [{ method: "token", index }] };
    },
  };
}

/** Hashed on both sides, so that the comparison takes the same time whatever the length. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
