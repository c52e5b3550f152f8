import { unescape as percentDecoded } from "node:querystring";
import { MASKED } from "./secret-shapes.ts";

interface Rules {
  readonly isSecretKey: (key: string) => boolean;
  readonly shapes: (text: string) => string;
  readonly text: (text: string) => string;
}

interface ParameterMask {
  /** A form-encoded body, or what follows the path of a URL. */
  parameters(text: string): string;
  url(url: string): string;
}

/** Some software separates parameters with `;`, and a fragment may carry them too. */
const SEPARATOR = /([?&;#])/;
const BRACKET = /[[\]]/;

/** Masks parameters by their names, and those whose values look like secrets once they are decoded. */
export function createParameterMask({ isSecretKey, shapes, text }: Rules): ParameterMask {
  function parameter(part: string): string {
    const equals = part.indexOf("=");
    if (equals === -1) return unlessSecret(part);
    const name = part.slice(0, equals);
    const value = part.slice(equals + 1);
    // `data[code]` and `code[]` are how forms spell nesting.
    if (decoded(name).split(BRACKET).some(isSecretKey)) return `${unlessSecret(name)}=${MASKED}`;
    return `${unlessSecret(name)}=${unlessSecret(value)}`;
  }

  /** Masked whole: put back in part, a decoded value would have to be encoded again. */
  function unlessSecret(value: string): string {
    if (text(value) !== value) return MASKED;
    const plain = decoded(value);
    return plain === value || text(plain) === plain ? value : MASKED;
  }

  function parameters(given: string): string {
    return given.split(SEPARATOR).map(parameter).join("");
  }

  return {
    parameters,
    url(url) {
      const [path = "", ...rest] = shapes(url).split(SEPARATOR);
      const shown = path
        .split("/")
        .map((segment) => (shapes(decoded(segment)) === decoded(segment) ? segment : MASKED));
      return shown.join("/") + rest.map(parameter).join("");
    },
  };
}

/** Unlike decodeURIComponent, this decodes what it can where an escape is malformed. */
function decoded(text: string): string {
  return /[%+]/.test(text) ? percentDecoded(text.replaceAll("+", " ")) : text;
}
