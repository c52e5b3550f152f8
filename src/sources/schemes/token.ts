import { createHash, timingSafeEqual } from "node:crypto";
import { type Refused, refused } from "../../domain/index.ts";
import { missingCredential, type Scheme, type SignedRequest } from "./scheme.ts";

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

/** RFC 6750 §2.1: the scheme's name in any case, one space, the token. */
const BEARER = /^bearer ([^\s]+)$/i;

/** A header that carries a credential: `Authorization` holds `Bearer <token>`, any other one the token itself. */
export function credentialHeader(name: string) {
  const key = name.toLowerCase();
  const isBearer = key === "authorization";
  return {
    /** What a 401 says of it. */
    challenge: isBearer ? 'Bearer realm="callbacks"' : `Token realm="callbacks", header="${name}"`,
    /** The one token in it; refused when it is missing or stands more than once. */
    read({ headers }: SignedRequest): string | Refused {
      const values = headers[key] ?? [];
      const [value = ""] = values;
      if (values.length > 1) return refused("token_repeated");
      const token = isBearer ? (BEARER.exec(value)?.[1] ?? "") : value;
      return token === "" ? missingCredential("token_missing") : token;
    },
  };
}
