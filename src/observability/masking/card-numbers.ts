const SHORTEST = 13;
const LONGEST = 19;
const ZERO = 48;
/** Cards are printed in groups that begin with four digits or more; shorter first groups are telephone numbers. */
const SHORTEST_FIRST_GROUP = 4;

/** UUIDs, hexadecimal digests and amounts with many places hold long runs of digits too, and are passed over. */
const NO_CARD = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24,}|(?<!\\d[ -]?)\\d{1,12}\\.\\d+";
const DIGITS = "(?<!\\d)\\d(?:[ -]?\\d){12,}";
const CANDIDATE = new RegExp(`(${NO_CARD})|${DIGITS}`, "gi");

/** No issuer's numbers begin with 0; 13, 16 or 19 digits after a leading 1 are milli-, micro- or nanoseconds. */
const NO_ISSUER = /^(?:0|1(?:\d{12}|\d{15}|\d{18})$)/;

/** Whether there are so many digits with nothing but blanks and hyphens between. It looks at one character in thirteen. */
export function mayHoldCardNumber(text: string): boolean {
  for (let at = SHORTEST - 1; at < text.length; at += SHORTEST) {
    if (!isOfRun(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isOfRun(text.charCodeAt(start - 1))) start -= 1;
    let digits = 0;
    for (at = start; at < text.length && isOfRun(text.charCodeAt(at)); at += 1) {
      if (text.charCodeAt(at) >= ZERO) digits += 1;
      if (digits === SHORTEST) return true;
    }
  }
  return false;
}

/** A digit, a blank or a hyphen. */
function isOfRun(code: number): boolean {
  return (code >= ZERO && code < ZERO + 10) || code === 32 || code === 45;
}

/** Replaces the card numbers in a text, written in one piece or in groups, also where other numbers stand beside. */
export function replaceCardNumbers(text: string, by: string): string {
  return text.replace(CANDIDATE, (run: string, other: string | undefined) =>
    other === undefined ? replaceInRun(run, by) : run,
  );
}

function replaceInRun(run: string, by: string): string {
  const groups = run.split(/([ -])/);
  let replaced = "";
  for (let index = 0; index < groups.length; index += 1) {
    const end = index % 2 === 0 ? endOfCard(groups, index) : undefined;
    replaced += end === undefined ? groups[index] : by;
    index = end ?? index;
  }
  return replaced;
}

/** Where the longest card number that begins with this group ends; digits stand at even places. */
function endOfCard(groups: readonly string[], start: number): number | undefined {
  const mayStandBeside = (groups[start] ?? "").length >= SHORTEST_FIRST_GROUP;
  if (!mayStandBeside && start > 0) return undefined;
  let digits = "";
  let end: number | undefined;
  for (let index = start; index < groups.length; index += 2) {
    digits += groups[index];
    if (digits.length > LONGEST) break;
    const isWhole = index === groups.length - 1;
    if ((mayStandBeside || isWhole) && isCardNumber(digits)) end = index;
  }
  return end;
}

/** The check digit of ISO/IEC 7812-1, annex B, tells a card number from most order numbers of its length. */
export function isCardNumber(digits: string): boolean {
  if (digits.length < SHORTEST || digits.length > LONGEST || NO_ISSUER.test(digits)) return false;
  let sum = 0;
  let isDoubled = false;
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    const digit = digits.charCodeAt(index) - ZERO;
    const weighted = isDoubled ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
    isDoubled = !isDoubled;
  }
  return sum % 10 === 0;
}
