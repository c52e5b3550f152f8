/** The words of a query; quotes hold spaces and colons together. */
export const TOKEN = /(?:[^\s"]+|"(?:[^"\\]|\\.)*"?)+/g;

const DURATION = /^(\d{1,6}(?:\.\d{1,3})?)(ms|[smhd])$/;
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The value of a filter, in quotes where it needs them. */
export function quoted(value: string): string {
  return /[\s"]|^\/\//.test(value) ? inQuotes(value) : value;
}

/** A word that is searched for as it is, though a filter may begin so. */
export function quotedWord(text: string): string {
  return /[\s":]/.test(text) ? inQuotes(text) : text;
}

function inQuotes(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** Without the quotes; inside them a backslash makes the next character count as itself. */
export function unquoted(token: string): string {
  return token.replace(/"((?:[^"\\]|\\.)*)"?/g, (_, inner: string) => inner.replace(/\\(.)/g, "$1"));
}

/**
 * The moment of `3d` ago, or of a time; undefined for any other text.
 * @param now in milliseconds
 * @returns in ISO 8601
 */
export function momentOf(value: string, now: number): string | undefined {
  const [, count, unit = ""] = DURATION.exec(value) ?? [];
  const ms = UNITS_MS[unit];
  const at = count !== undefined && ms !== undefined ? now - Number(count) * ms : Date.parse(value);
  return Math.abs(at) <= MOST_MS ? new Date(at).toISOString() : undefined;
}

/** The farthest time that a date can hold. */
const MOST_MS = 8.64e15;

export function isDuration(value: string): boolean {
  return DURATION.test(value);
}
