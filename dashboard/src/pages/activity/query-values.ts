import { durationMs } from "oncehook/admin-client";

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

/**
 * The moment of `3d` ago, or of a time; undefined for any other text.
 * @param now in milliseconds
 * @returns in ISO 8601
 */
export function momentOf(value: string, now: number): string | undefined {
  const at = isDuration(value) ? now - durationMs(value) : Date.parse(value);
  return Math.abs(at) <= MOST_MS ? new Date(at).toISOString() : undefined;
}

/** The farthest time that a date can hold. */
const MOST_MS = 8.64e15;

export function isDuration(value: string): boolean {
  return !Number.isNaN(durationMs(value));
}
