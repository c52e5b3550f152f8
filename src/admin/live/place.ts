/**
 * How far somebody has read the callback log. On PostgreSQL a row may become visible after one with a higher id, so that the
 * newest id alone does not say it: those below it that were not there yet are named with it.
 */
export interface Place {
  readonly newest: number;
  /** Ids below `newest` that may still come. */
  readonly missing: readonly number[];
}

/** More of them are not written: the place is put before them, and a few rows come twice. */
const MOST_NAMED = 16;

/** As the `id` of a server-sent event: `102`, or `102-99-101` where 99 and 101 may still come. */
export function writePlace({ newest, missing }: Place): string {
  if (missing.length > MOST_NAMED) return String(Math.min(...missing) - 1);
  return [newest, ...missing].join("-");
}

/** Undefined where the text is no place. */
export function readPlace(text: string): Place | undefined {
  if (!/^\d{1,15}(?:-\d{1,15}){0,16}$/.test(text)) return undefined;
  const [newest = 0, ...missing] = text.split("-").map(Number);
  return { newest, missing };
}
