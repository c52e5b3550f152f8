const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;
const STEP = 1_000;
const THREE_DIGITS = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

/** Bytes to read, such as `1.69 GB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= STEP && unit < UNITS.length - 1; unit += 1) value /= STEP;
  return `${THREE_DIGITS.format(value)} ${UNITS[unit]}`;
}

const DURATIONS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** A duration in its largest whole unit, such as `30 days` or `200 ms`. */
export function durationText(ms: number): string {
  const [unit, size] = DURATIONS.find(([, size]) => ms >= size && ms % size === 0) ?? [];
  if (size === undefined) return secondsText(ms);
  const count = ms / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A limit of some seconds or less, such as `6.67 s` or `200 ms`. */
export function secondsText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${THREE_DIGITS.format(ms / 1_000)} s`;
}
