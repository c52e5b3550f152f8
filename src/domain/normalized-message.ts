/** Longer messages are compared by their beginning. */
const MOST = 400;

/** In this order: an address holds numbers, and an id may hold what looks like a word. */
const VARIABLE: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/[a-z][a-z+.-]*:\/\/[^\s"'`)\]]+/gi, "<url>"],
  [/[\w.%+-]+@[\w-]+(?:\.[\w-]+)+/g, "<address>"],
  [/"[^"\n]{0,200}"|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{0,200}'/g, "<value>"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<id>"],
  // Letters and a digit in one word: `evt_1T60300`, `order-123`, a digest.
  [/\b(?=[\w-]*[0-9])(?=[\w-]*[a-z_-])[\w-]{2,}\b/gi, "<id>"],
  // Three digits after such a word are a status, which tells causes apart.
  [/(?<!\b(?:answered|status|http|code) )-?\b\d+(?:[.,:]\d+)*\b/gi, "<n>"],
];

/** The first line of an error, without the parts in which errors of one cause differ. */
export function normalizedMessage(error: string): string {
  const [first = ""] = error.slice(0, MOST).split("\n", 1);
  return VARIABLE.reduce((text, [pattern, name]) => text.replace(pattern, name), first).trim();
}
