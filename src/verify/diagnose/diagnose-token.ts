import { createHash, timingSafeEqual } from "node:crypto";
import { type Diagnosis, diagnosisOf } from "../../domain/index.ts";
import type { DistinctHeaders } from "../scheme.ts";

/** The tokens that are accepted, and the header in which they are to stand. */
export interface KnownTokens {
  readonly tokens: readonly string[];
  readonly header: string;
}

const WRAPPED = /^(?:bearer |token |basic )?["']?([^"']+)["']?$/i;
const LONGEST = 2_048;

/** Why a token was none of the known ones; both sides are hashed, as they are where it is accepted. */
export function diagnoseToken(headers: DistinctHeaders, { tokens, header }: KnownTokens): Diagnosis {
  const [value = ""] = headers[header.toLowerCase()] ?? [];
  const bare =
    value.length > LONGEST ? undefined : WRAPPED.exec(decoded(value).replace(/^bearer /i, ""))?.[1];
  const claimed = digest(bare?.trim() ?? "");
  const matches = tokens.map((token) => timingSafeEqual(digest(token), claimed));
  return matches.includes(true)
    ? diagnosisOf(
        [{ code: "token_spelling", says: "The token is right but for what stands around it." }],
        true,
      )
    : diagnosisOf([{ code: "token_mismatch", says: "The token is none of the accepted ones." }]);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
