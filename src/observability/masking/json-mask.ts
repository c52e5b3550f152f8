import { parseJson } from "../../domain/index.ts";
import type { MaskBudget } from "./mask-limits.ts";
import { MASKED, type SecretPatterns } from "./secret-patterns.ts";
import type { PairMask } from "./text-mask.ts";

/** How often JSON may stand in a string of JSON. */
const MAX_LEVELS = 64;
const QUOTED_MASK = `"${MASKED}"`;
const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;
/** The longest beginning of a string's content that is well-formed JSON. */
const WELL_FORMED = /[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[ !#-[\]-\uffff]*)*/y;
const LITERAL = /[^\s,:"{}[\]]+/y;
/** A number of so many digits may be a card's, or a configured secret. */
const LONG_NUMBER = /-?\d[\d.eE+-]{7,}/g;
const PLAIN_DIGITS = /^\d+$/;
const SHORTEST_NUMBER = 8;
const SEPARATOR = /[=:]/;
const BASE64URL = /[-_]/;
const INNER = /^\s*(?:\{|\[(?!masked\]))/;

/**
 * A state of an order or a pull request: some words of letters, in one case each. A state of OAuth is one random text, and
 * stands in addresses and forms.
 */
const WORD = "(?:[a-z]{1,20}|[A-Z]{1,20}|[A-Z][a-z]{1,19})";
const NAMED_STATE = new RegExp(`(?:"${WORD}(?:[ _-]${WORD}){0,3}"|null|true|false|-?\\d{1,4})(?=\\s*[,}\\]])`, "y");

/** Costs of a string beside its characters; a key; its escapes; a look for patterns; a look for pairs. */
const STRING = 12;
const KEY = 60;
const ESCAPED = 64;
const SHAPED = 48;
const PAIRED = 16;

export interface KeyNames {
  readonly isSecretKey: (key: string) => boolean;
  /** Whether its value is a secret only where it names no state. */
  readonly isStateKey: (key: string) => boolean;
  /** Keys whose value is JSON in base64; undefined where no source has one. */
  readonly base64Keys?: ReadonlySet<string> | undefined;
}

export type JsonMask = ReturnType<typeof createJsonMask>;

/**
 * Masks JSON text in place: the rest stays as it was written. It makes one pass from quote to quote. A string before a
 * colon is a key; the value of a key that names a secret is masked whole. Text that was cut off, or is no JSON, takes
 * the same way. Anything open is masked to its end.
 * @param pairs for strings, which may be texts or addresses
 */
export function createJsonMask(
  { isSecretKey, isStateKey, base64Keys }: KeyNames,
  patterns: SecretPatterns,
  pairs: PairMask,
) {
  function mask(text: string, budget: MaskBudget, level: number): string | undefined {
    if (!budget.take(text.length)) return undefined;
    // One look at the whole text saves one at each string, save for those that are spelled with escapes.
    const isClean = !patterns.mayMatch(text);
    const hasEscapes = text.includes("\\");
    const mayPair = separatorsOf(text);
    let masked = "";
    let done = 0;
    let at = 0;
    for (;;) {
      const open = text.indexOf('"', at);
      if (!isClean) {
        const gap = text.slice(at, open === -1 ? text.length : open);
        const shown = withoutCards(gap, budget, patterns);
        if (shown !== gap) {
          masked += text.slice(done, at) + shown;
          done = at + gap.length;
        }
      }
      if (open === -1) return budget.isExhausted ? undefined : masked + text.slice(done);
      const close = endOfString(text, open);
      const colon = afterBlanks(text, close);
      const isKey = text.charCodeAt(colon) === COLON;
      if (!budget.take(STRING + (isKey ? KEY + close - open : 0))) return undefined;
      at = close;
      const key = isKey ? unescaped(text.slice(open + 1, close - 1)) : "";
      const isSecret = isKey && isSecretKey(key) && !(isStateKey(key) && isNamedState(text, colon));
      if (!isClean || hasEscapes || (!isKey && mayPair(open, close))) {
        const raw = text.slice(open, close);
        const shown = string(raw, isClean, budget, isKey ? MAX_LEVELS : level);
        if (shown === undefined) return undefined;
        if (shown !== raw) {
          masked += text.slice(done, open) + shown;
          done = close;
        }
      }
      if (isKey && !isSecret && base64Keys?.has(key) === true) {
        const start = afterBlanks(text, colon + 1);
        const raw = text.charCodeAt(start) === QUOTE ? text.slice(start, endOfString(text, start)) : "";
        const shown = base64Json(raw, budget, (inner) => mask(inner, budget, level + 1));
        if (shown === undefined) return undefined;
        if (shown !== raw) {
          masked += text.slice(done, start) + shown;
          done = start + raw.length;
          at = done;
        }
      }
      if (isSecret) {
        const start = afterBlanks(text, colon + 1);
        at = endOfValue(text, start, budget);
        if (at === start || (at === start + MASKED.length && text.startsWith(MASKED, start))) continue;
        masked += text.slice(done, start) + QUOTED_MASK;
        done = at;
      }
    }
  }

  /** A string in its quotes. Platforms put JSON into strings; its keys count like any others. */
  function string(raw: string, isClean: boolean, budget: MaskBudget, level: number): string | undefined {
    const end = raw.length > 1 && raw.endsWith('"') ? '"' : "";
    const content = raw.slice(1, raw.length - end.length);
    if (!content.includes("\\")) {
      if (!isClean && !budget.take(SHAPED + 4 * raw.length)) return undefined;
      const shown = withoutPairs(isClean ? content : patterns.mask(content), budget, pairs);
      return shown === content ? raw : `"${shown}${end}`;
    }
    if (!budget.take(ESCAPED + 4 * raw.length)) return undefined;
    const text = unescaped(content);
    const inner = level < MAX_LEVELS && INNER.test(text) ? mask(text, budget, level + 1) : text;
    if (inner === undefined) return undefined;
    const shown = withoutPairs(patterns.mask(inner), budget, pairs);
    return shown === text ? raw : JSON.stringify(shown);
  }

  /** @returns undefined where the work would be too much */
  return (text: string, budget: MaskBudget) => mask(text, budget, 0);
}

/** A string in its quotes. One whose text is JSON in base64 is masked inside and encoded again where that changes it. */
function base64Json(raw: string, budget: MaskBudget, mask: (json: string) => string | undefined): string | undefined {
  if (!budget.take(ESCAPED + 4 * raw.length)) return undefined;
  const end = raw.length > 1 && raw.endsWith('"') ? '"' : "";
  const text = unescaped(raw.slice(1, raw.length - end.length));
  const json = Buffer.from(text, "base64").toString("utf8");
  const shown = INNER.test(json) ? mask(json) : json;
  if (shown === undefined) return undefined;
  if (shown === json) return raw;
  return `"${Buffer.from(shown).toString(BASE64URL.test(text) ? "base64url" : "base64")}${end}`;
}

function withoutPairs(text: string, budget: MaskBudget, pairs: PairMask): string {
  return SEPARATOR.test(text) && budget.take(PAIRED + text.length) ? pairs(text, budget) : text;
}

function withoutCards(gap: string, budget: MaskBudget, patterns: SecretPatterns): string {
  if (gap.length < SHORTEST_NUMBER || !budget.take(2 * gap.length)) return gap;
  return gap.replace(LONG_NUMBER, (number) => {
    if (!budget.take(SHAPED)) return number;
    const digits = PLAIN_DIGITS.test(number) ? number : String(Math.abs(Number(number)));
    return patterns.isSecretNumber(digits) ? QUOTED_MASK : number;
  });
}

function isNamedState(text: string, colon: number): boolean {
  NAMED_STATE.lastIndex = afterBlanks(text, colon + 1);
  return NAMED_STATE.test(text);
}

/** Tells, for strings from the first to the last, whether one has a separator between its quotes. */
function separatorsOf(text: string): (open: number, close: number) => boolean {
  let colon = -1;
  let equals = -1;
  const next = (separator: string, from: number): number => {
    const found = text.indexOf(separator, from);
    return found === -1 ? Number.POSITIVE_INFINITY : found;
  };
  return (open, close) => {
    if (equals < open) equals = next("=", open);
    if (equals < close) return true;
    if (colon < open) colon = next(":", open);
    return colon < close;
  };
}

/** The text of a string, also of one that was cut off inside an escape. Anything but a string of JSON stays as it is. */
function unescaped(raw: string): string {
  if (!raw.includes("\\")) return raw;
  // An error of the parser costs as much as hundreds of strings. A body can hold thousands.
  WELL_FORMED.lastIndex = 0;
  WELL_FORMED.test(raw);
  const end = WELL_FORMED.lastIndex;
  if (end < raw.length && end !== raw.lastIndexOf("\\")) return raw;
  return (parseJson(`"${raw.slice(0, end)}"`) ?? raw) as string;
}

/** Behind the quote that ends the string; the end of a text in which it is not ended. */
function endOfString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || (code >= 9 && code <= 13); code = text.charCodeAt(at)) at += 1;
  return at;
}

function endOfValue(text: string, start: number, budget: MaskBudget): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  const isMasked = text.startsWith(MASKED, start);
  if (isMasked || !opens(first)) {
    const from = isMasked ? start + MASKED.length : start;
    LITERAL.lastIndex = from;
    return LITERAL.test(text) ? LITERAL.lastIndex : from;
  }
  let level = 0;
  let at = start;
  do {
    const code = text.charCodeAt(at);
    if (opens(code)) level += 1;
    else if (code === 125 || code === 93) level -= 1;
    at = code === QUOTE ? endOfString(text, at) : at + 1;
  } while (level > 0 && at < text.length);
  budget.take(at - start);
  return at;
}

function opens(code: number): boolean {
  return code === 123 || code === 91;
}
