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
