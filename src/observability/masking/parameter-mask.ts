import { unescape as percentDecoded } from "node:querystring";
import { MaskBudget, maskedPrefix } from "./mask-limits.ts";
import { MASKED, type SecretPatterns } from "./secret-patterns.ts";
import type { TextMask } from "./text-mask.ts";

/** Some software separates parameters with `;`, and a fragment may carry them too. */
const SEPARATOR = /([?&;#])/;
const BRACKET = /[[\]]/;
const ENCODED = /[%+]/;
/** A part without one of these holds no pair, and nothing that would have to be decoded. */
const MAY_HIDE = /[=:%+]/;
/** A browser's own bound for addresses that work everywhere. */
const MAX_URL_CHARACTERS = 2_048;

/** The cost of a parameter beside its characters, and of a look into its value. */
const PARAMETER = 32;
const LOOKED_INTO = 160;

export type ParameterMask = ReturnType<typeof createParameterMask>;

/** Masks parameters by their names, and those whose values look like secrets once they are decoded. */
export function createParameterMask(isSecretKey: (key: string) => boolean, patterns: SecretPatterns, text: TextMask) {
  function parameter(part: string, isClean: boolean, budget: MaskBudget): string {
    const equals = part.indexOf("=");
    if (equals === -1) return unlessSecret(part, isClean, budget);
    const name = part.slice(0, equals);
    const value = part.slice(equals + 1);
    // `data[code]` and `code[]` are how forms spell nesting.
    const plain = decoded(name);
    const isSecret = plain.includes("[") ? plain.split(BRACKET).some(isSecretKey) : isSecretKey(plain);
    const shownName = unlessSecret(name, isClean, budget);
    return `${shownName}=${isSecret ? MASKED : unlessSecret(value, isClean, budget)}`;
  }

  /** Masked whole: put back in part, a decoded value would have to be encoded again. */
  function unlessSecret(value: string, isClean: boolean, budget: MaskBudget): string {
    if (isClean && !MAY_HIDE.test(value)) return value;
    if (!budget.take(LOOKED_INTO + 8 * value.length)) return MASKED;
    if (text(value) !== value) return MASKED;
    const plain = decoded(value);
    return plain === value || text(plain) === plain ? value : MASKED;
  }

  /** A form-encoded body, or what follows the path of a URL; undefined where the work would be too much. */
  function parameters(given: string, budget: MaskBudget): string | undefined {
    const isClean = !patterns.mayMatch(given);
    let shown = "";
    for (const part of given.split(SEPARATOR)) {
      if (!budget.take(PARAMETER + part.length)) return undefined;
      shown += part.length < 2 ? part : parameter(part, isClean, budget);
    }
    return budget.isExhausted ? undefined : shown;
  }

  function shownUrl(url: string): string {
    const masked = patterns.mask(url);
    const query = masked.search(SEPARATOR);
    const path = query === -1 ? masked : masked.slice(0, query);
    const shown = ENCODED.test(path)
      ? path
          .split("/")
          .map((segment) => (patterns.mask(decoded(segment)) === decoded(segment) ? segment : MASKED))
          .join("/")
      : path;
    return query === -1 ? shown : shown + (parameters(masked.slice(query), new MaskBudget()) ?? MASKED);
  }

  return {
    parameters,
    /** The first 2,048 characters of a long one. */
    url(url: string): string {
      if (url.length <= MAX_URL_CHARACTERS) return shownUrl(url);
      return `${maskedPrefix(url, MAX_URL_CHARACTERS, patterns, shownUrl)}… (${url.length} characters)`;
    },
  };
}

/** Unlike decodeURIComponent, this decodes what it can where an escape is malformed. */
function decoded(text: string): string {
  return ENCODED.test(text) ? percentDecoded(text.replaceAll("+", " ")) : text;
}
