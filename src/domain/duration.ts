export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Such as `500ms`, `30s`, `15m`, `72h` or `3d`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const DURATION = /^(\d{1,6}(?:\.\d{1,3})?)(ms|[smhd])$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** @returns milliseconds of a text such as `90m`; NaN for anything else */
export function durationMs(text: unknown): number {
  const [, count, unit = ""] = DURATION.exec(typeof text === "string" ? text : "") ?? [];
  return Number(count) * (UNIT_MS[unit] ?? Number.NaN);
}

/** Whether the day that an ISO 8601 text begins with exists: `Date.parse` takes the thirtieth of February. */
export function hasRealDay(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
