import { MASKED } from "./secret-shapes.ts";

interface Rules {
  readonly isSecretKey: (key: string) => boolean;
  readonly shapes: (text: string) => string;
}

const SEPARATOR = /[=:]/;
const KEY = /([A-Za-z][\w.-]{0,63})\\*["']?\s*[=:]\s*/g;
const QUOTED = String.raw`\\+["'][^"']*["']?|"(?:[^"\\]|\\[\s\S])*"?|'(?:[^'\\]|\\[\s\S])*'?`;
/** The end of an object or array cannot be told in free text, so that nothing after its beginning is kept. */
const NESTED = String.raw`(?!\[masked\])[{[][\s\S]*`;
const VALUE = new RegExp(String.raw`${QUOTED}|${NESTED}|(?:\[masked\]|[^\s"',;&)}\]])+`, "y");
/** Credentials and cookies are several words: `Digest username=…, response=…`. */
const LINE = new RegExp(String.raw`${QUOTED}|[^\r\n]+`, "y");
const TAKES_LINE = /(?:authorization|cookie)$/i;
const OPENING_QUOTE = /^\\*["']/;

/** Errors may quote whole responses; what is read is bounded, and more than is shown, so that no secret is cut. */
const MAX_READ_CHARACTERS = 262_144;
const MAX_SHOWN_CHARACTERS = 65_536;

/**
 * Masks free text, such as messages and stacks of errors: the shapes of secrets, and the values in pairs like
 * `code=…`, `"token":"…"` or `Cookie: …`.
 */
export function createTextMask({ isSecretKey, shapes }: Rules): (text: string) => string {
  return (text) => {
    const given = shapes(text.slice(0, MAX_READ_CHARACTERS));
    // Most header values hold no pair, and this look is cheaper than the search for one.
    if (!SEPARATOR.test(given)) return given.slice(0, MAX_SHOWN_CHARACTERS);
    let masked = "";
    let done = 0;
    for (const pair of given.matchAll(KEY)) {
      const [between, name = ""] = pair;
      const start = pair.index + between.length;
      // Only a secret's value is taken whole; that of `error: token=…` holds a pair of its own.
      if (pair.index < done || !isSecretKey(name)) continue;
      const value = valueAt(given, start, TAKES_LINE.test(name) ? LINE : VALUE);
      if (value === "") continue;
      const quote = OPENING_QUOTE.exec(value)?.[0] ?? "";
      masked += `${given.slice(done, start)}${quote}${MASKED}${quote}`;
      done = start + value.length;
    }
    return (masked + given.slice(done)).slice(0, MAX_SHOWN_CHARACTERS);
  };
}

function valueAt(text: string, start: number, pattern: RegExp): string {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0] ?? "";
}
