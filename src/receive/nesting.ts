const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Any number of fewer characters is one that a double holds with all its digits, unless its exponent is large. */
const LONG_NUMBER = 16;
const LARGE_EXPONENT_DIGITS = 3;

/** What one pass over the bytes of a JSON text finds, strings left out. */
export type Survey = "too deep" | "has long numbers" | "plain";

/** @param limit how deep arrays and objects may nest */
export function survey(json: Uint8Array, limit: number): Survey {
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
      hasLongNumbers ||= isLong(json, index, end);
      index = end - 1;
    }
  }
  return hasLongNumbers ? "has long numbers" : "plain";
}

/** Where the long numbers of a JSON text stand, as pairs of first and last byte, the latter exclusive. */
export function longNumbers(json: Uint8Array): (readonly [start: number, end: number])[] {
  const found: [number, number][] = [];
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (inString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (isDigit(byte)) {
      const end = endOfNumber(json, index);
      if (isLong(json, index, end)) found.push([json[index - 1] === 0x2d ? index - 1 : index, end]);
      index = end - 1;
    }
  }
  return found;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Digits, `.`, `e`, `E`, `+` and `-`: whether they are a number, the parser says. */
function endOfNumber(json: Uint8Array, start: number): number {
  let end = start + 1;
  for (; end < json.length; end += 1) {
    const byte = json[end] as number;
    if (
      !isDigit(byte) &&
      !(byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === 0x2d)
    )
      break;
  }
  return end;
}

function isLong(json: Uint8Array, start: number, end: number): boolean {
  if (end - start >= LONG_NUMBER) return true;
  for (let index = start; index < end - LARGE_EXPONENT_DIGITS; index += 1) {
    if (((json[index] as number) | 0x20) === 0x65) return true;
  }
  return false;
}
