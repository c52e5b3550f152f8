import { isExactNumber } from "../../domain/index.ts";

/**
 * A valid JSON text with strings for the numbers that would not be the same as JavaScript numbers. Undefined where
 * there are none. As strings they keep all digits. The schema decides which number a platform means by
 * 9007199254740993: a double would silently make it another.
 */
export function replaceInexactNumbers(json: Uint8Array): string | undefined {
  const parts: Uint8Array[] = [];
  let written = 0;
  for (const [start, end] of longNumbers(json)) {
    const text = decodeRange(json, start, end);
    if (isExactNumber(text)) continue;
    parts.push(json.subarray(written, start), Buffer.from(`"${text}"`));
    written = end;
  }
  if (parts.length === 0) return undefined;
  return Buffer.concat([...parts, json.subarray(written)]).toString("utf8");
}

function decodeRange(json: Uint8Array, start: number, end: number): string {
  return Buffer.from(json.buffer, json.byteOffset + start, end - start).toString("latin1");
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Any number of fewer characters is one that a double holds with all its digits, unless its exponent is large. */
const LONG_NUMBER = 16;
const LARGE_EXPONENT_DIGITS = 3;

/**
 * One pass over the bytes of a JSON text, strings left out.
 * @param limit how deep arrays and objects may nest
 * @param found takes where each long number starts and ends, the end exclusive
 */
export function scanJson(
  json: Uint8Array,
  limit: number,
  found?: [start: number, end: number][],
): "too deep" | "has long numbers" | "plain" {
  let depth = 0;
  let inString = false;
  let hasLongNumbers = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (inString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > limit) return "too deep";
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (isDigit(byte)) {
      const end = endOfNumber(json, index);
      if ((found !== undefined || !hasLongNumbers) && isLong(json, index, end)) {
        hasLongNumbers = true;
        found?.push([json[index - 1] === 0x2d ? index - 1 : index, end]);
      }
      index = end - 1;
    }
  }
  return hasLongNumbers ? "has long numbers" : "plain";
}

function longNumbers(json: Uint8Array): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  scanJson(json, Number.POSITIVE_INFINITY, ranges);
  return ranges;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Digits, `.`, `e`, `E`, `+` and `-`: whether they are a number, the parser says. */
function endOfNumber(json: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < json.length && isOfNumber(json[end] as number)) end += 1;
  return end;
}

function isOfNumber(byte: number): boolean {
  return isDigit(byte) || byte === 0x2e || (byte | 0x20) === 0x65 || byte === 0x2b || byte === 0x2d;
}

function isLong(json: Uint8Array, start: number, end: number): boolean {
  if (end - start >= LONG_NUMBER) return true;
  for (let index = start; index < end - LARGE_EXPONENT_DIGITS; index += 1) {
    if (((json[index] as number) | 0x20) === 0x65) return true;
  }
  return false;
}
