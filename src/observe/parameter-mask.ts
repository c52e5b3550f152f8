import { unescape as percentDecoded } from "node:querystring";
import { shownPart } from "./cut.ts";
import { MASKED, type Shapes } from "./secret-shapes.ts";
import { Work } from "./work.ts";

interface Rules {
  readonly isSecretKey: (key: string) => boolean;
  readonly shapes: Shapes;
  readonly text: (text: string) => string;
}

interface ParameterMask {
  /** A form-encoded body, or what follows the path of a URL; undefined where the work would be too much. */
  parameters(text: string, work: Work): string | undefined;
  /** The first 2,048 characters of a long one. */
  url(url: string): string;
}

/** Some software separates parameters with `;`, and a fragment may carry them too. */
const SEPARATOR = /([?&;#])/;
const BRACKET = /[[\]]/;
const ENCODED = /[%+]/;
/** A part without one of these holds no pair, and nothing that would have to be decoded. */
const MAY_HIDE = /[=:%+]/;
/** A browser's own bound for addresses that work everywhere. */
const MAX_URL_CHARACTERS = 2_048;

/** What a parameter costs beside its characters, and what a look into its value does. */
const PARAMETER = 32;
const LOOKED_INTO = 160;

/** Masks parameters by their names, and those whose values look like secrets once they are decoded. */
export function createParameterMask({ isSecretKey, shapes, text }: Rules): ParameterMask {
  function parameter(part: string, isClean: boolean, work: Work): string {
    const equals = part.indexOf("=");
    if (equals === -1) return unlessSecret(part, isClean, work);
    const name = part.slice(0, equals);
    const value = part.slice(equals + 1);
    // `data[code]` and `code[]` are how forms spell nesting.
    const plain = decoded(name);
    const isSecret = plain.includes("[") ? plain.split(BRACKET).some(isSecretKey) : isSecretKey(plain);
    const shownName = unlessSecret(name, isClean, work);
    return `${shownName}=${isSecret ? MASKED : unlessSecret(value, isClean, work)}`;
  }

  /** Masked whole: put back in part, a decoded value would have to be encoded again. */
  function unlessSecret(value: string, isClean: boolean, work: Work): string {
    if (isClean && !MAY_HIDE.test(value)) return value;
    if (!work.take(LOOKED_INTO + 8 * value.length)) return MASKED;
    if (text(value) !== value) return MASKED;
    const plain = decoded(value);
    return plain === value || text(plain) === plain ? value : MASKED;
  }

  function parameters(given: string, work: Work): string | undefined {
    const isClean = !shapes.mayHold(given);
    let shown = "";
    for (const part of given.split(SEPARATOR)) {
      if (!work.take(PARAMETER + part.length)) return undefined;
      shown += part.length < 2 ? part : parameter(part, isClean, work);
    }
    return work.isOver ? undefined : shown;
  }

  function shownUrl(url: string): string {
    const masked = shapes.mask(url);
    const query = masked.search(SEPARATOR);
    const path = query === -1 ? masked : masked.slice(0, query);
    const shown = ENCODED.test(path)
      ? path
          .split("/")
          .map((segment) => (shapes.mask(decoded(segment)) === decoded(segment) ? segment : MASKED))
          .join("/")
      : path;
    return query === -1 ? shown : shown + (parameters(masked.slice(query), new Work()) ?? MASKED);
  }

  return {
    parameters,
    url(url) {
      if (url.length <= MAX_URL_CHARACTERS) return shownUrl(url);
      return `${shownPart(url, MAX_URL_CHARACTERS, shapes, shownUrl)}… (${url.length} characters)`;
    },
  };
}

/** Unlike decodeURIComponent, this decodes what it can where an escape is malformed. */
function decoded(text: string): string {
  return ENCODED.test(text) ? percentDecoded(text.replaceAll("+", " ")) : text;
}
