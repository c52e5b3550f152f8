import { fromCanonicalBase64url, type Refused, refused } from "../domain/index.ts";

/** The part of a JOSE header that is looked at before the signature: never to choose an algorithm. */
export interface JwsHeader {
  readonly alg: string;
  readonly kid?: string;
}

const LONGEST = 8_192;
const LONGEST_KID = 256;

/**
 * The header of a compact JWS (RFC 7515 §7.1). Stricter than base64url decoders are: three parts of the alphabet
 * alone, each the one encoding of its bytes. `crit` is refused whatever it lists, since no extension is understood
 * (§4.1.11); `jku`, `x5u` and `jwk` are never looked at.
 */
export function headerOf(token: string): JwsHeader | Refused {
  const parts = token.split(".");
  if (token.length > LONGEST) return malformed("longer than 8192 characters");
  const [first, ...rest] = parts.length === 3 ? parts.map(fromCanonicalBase64url) : [];
  if (first === undefined || rest.includes(undefined)) return malformed("not three parts of base64url");
  const header = parse(first);
  if (header === undefined) return malformed("the header is not a JSON object");
  const { alg, kid } = header;
  if ("crit" in header) return malformed("crit: no extension is understood");
  if (typeof alg !== "string") return malformed("alg: missing");
  if (kid === undefined) return { alg };
  if (typeof kid !== "string" || kid.length > LONGEST_KID) return malformed("kid: expected a string");
  return { alg, kid };
}

function parse(part: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(part.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function malformed(detail: string): Refused {
  return refused("jwt_malformed", { detail });
}
