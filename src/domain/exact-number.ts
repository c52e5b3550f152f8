const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether a JSON number survives as a JavaScript number: 0.1 and 1.10 do, although no double is a tenth. */
export function isExactNumber(text: string): boolean {
  return decimalOf(text) === decimalOf(String(Number(text)));
}

/** Whether both texts are of one number, or are the same text. */
export function isSameNumber(one: string, other: string): boolean {
  return decimalOf(one) === decimalOf(other);
}

/** One text for one value: its digits without zeros at either end, and their power of ten. */
function decimalOf(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (sign === undefined) return text;
  const digits = whole + fraction;
  let first = 0;
  let end = digits.length;
  while (first < end && digits[first] === "0") first += 1;
  while (end > first && digits[end - 1] === "0") end -= 1;
  if (first === end) return "0";
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Whether it is the text of a number that does not survive. */
export function isInexactNumber(value: unknown): value is string {
  return typeof value === "string" && NUMBER.test(value) && !isExactNumber(value);
}
