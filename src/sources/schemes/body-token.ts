import { isRefused, type JsonObject, type JsonValue, refused } from "../../domain/index.ts";
import { parseObject } from "../formats/parse-body.ts";
import { optionError } from "../option-error.ts";
import { tokenMatcher } from "../token-match.ts";
import { missingCredential, type Scheme } from "./scheme.ts";
import { assertSecret } from "./secret-keys.ts";

export interface BodyTokenOptions {
  /** The current token first, then those that are being rotated out. */
  readonly tokens: readonly string[];
  /** The tokens in the body, each of which must be a known one. None where the platform sent none. */
  readonly read: (body: JsonObject) => readonly (JsonValue | undefined)[];
  /** The platform's name of the token, such as `clientState`. */
  readonly name: string;
}

/**
 * A fixed token inside a JSON body (Lark without encryption, Microsoft Graph). It says who sent the body and nothing of
 * what else stands in it. The body is parsed before it is verified, which cannot be avoided: bounded as any body.
 * @throws TypeError for a token that is empty or has white space around it
 */
export function createBodyTokenScheme({ tokens, read, name }: BodyTokenOptions): Scheme {
  if (tokens.length === 0) throw optionError("secret", "none", "at least one");
  const indexOf = tokenMatcher(tokens.map((token) => assertSecret(token)));
  const missing = missingCredential("token_missing", `\`${name}\`: missing from the body`);
  return {
    challenge: `Token realm="callbacks", in="body", name="${name}"`,
    verify({ body }) {
      const parsed = parseObject(body);
      const claimed = isRefused(parsed) ? [] : read(parsed.object);
      if (claimed.length === 0) return missing;
      let oldest = 0;
      for (const token of claimed) {
        if (typeof token !== "string" || token === "") return missing;
        const index = indexOf(token);
        if (index === -1) return refused("token_mismatch", { detail: `\`${name}\`: is not the configured one` });
        oldest = Math.max(oldest, index);
      }
      return { verified: [{ method: "token", index: oldest }] };
    },
  };
}
