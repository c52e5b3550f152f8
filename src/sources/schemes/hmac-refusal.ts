import { type Refused, refused } from "../../domain/index.ts";
import type { HmacData } from "./hmac-data.ts";
import { missingCredential } from "./scheme.ts";

type HmacFault =
  | "signature_missing"
  | "signature_repeated"
  | "signature_malformed"
  | "signature_mismatch"
  | "timestamp_missing"
  | "timestamp_stale";

/** @param detail what was found and expected, naming the header; never a sender's text that has no known shape */
export type Refuse = (code: HmacFault, detail: string) => Refused;

/** Names as a refusal shows them. The mask of logs takes `token: …` for a secret, and leaves a name in backticks alone. */
export const quoted = (names: readonly string[], separator = ", "): string =>
  names.map((name) => `\`${name}\``).join(separator);

export function refusalsOf({ isSpecified }: Pick<HmacData, "isSpecified">): Refuse {
  return (code, detail) => {
    const refusal = code === "signature_missing" ? missingCredential(code) : refused(code);
    return isSpecified ? refusal : { ...refusal, detail };
  };
}
