/** Longer messages are compared by their beginning. */
const MOST = 400;

/** In this order: an address holds numbers, and an id may hold what looks like a word. */
const VARIABLE: readonly (readonly [pattern: RegExp, name: string | ((word: string) => string)])[] = [
  [/[a-z][a-z+.-]{0,20}:\/\/[^\s"'`)\]]+/gi, "<url>"],
  [/[\w.%+@-]+/g, withoutAddresses],
  [/"[^"\n]{0,200}"|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{0,200}'/g, "<value>"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b[\w-]{2,}/g, idOrWord],
  // Three digits after such a word are a status, which tells causes apart.
  [/(?<!\b(?:answered|status|http|code) )-?\b\d+(?:[.,:]\d+)*\b/gi, "<n>"],
];

/** The first line of an error, without the parts in which errors of one cause differ. */
export function normalizedMessage(error: string): string {
  const [first = ""] = error.slice(0, MOST).split("\n", 1);
  return VARIABLE.reduce(
    // Two calls, since each form of `replace` has a type of its own.
    (text, [pattern, by]) => (typeof by === "string" ? text.replace(pattern, by) : text.replace(pattern, by)),
    first,
  ).trim();
}

const DOMAIN = /[\w-]+(?:\.[\w-]+)+/y;

/** Mail addresses in a run of the characters that they have. */
function withoutAddresses(run: string): string {
  let shown = "";
  let done = 0;
  let before = -1;
  for (let at = run.indexOf("@"); at !== -1; before = at, at = run.indexOf("@", at + 1)) {
    const start = Math.max(done, before + 1);
    DOMAIN.lastIndex = at + 1;
    if (start === at || !DOMAIN.test(run)) continue;
    shown += `${run.slice(done, start)}<address>`;
    done = DOMAIN.lastIndex;
  }
  return done === 0 ? run : shown + run.slice(done);
}

/** Letters and a digit in one word are an id: `evt_1T60300`, `order-123`, a digest. */
function idOrWord(word: string): string {
  if (!/\d/.test(word) || !/[a-z_-]/i.test(word)) return word;
  let end = word.length;
  while (word[end - 1] === "-") end -= 1;
  return end < 2 ? word : `<id>${word.slice(end)}`;
}
