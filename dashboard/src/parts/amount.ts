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

/** How long something took, such as `14.4 s`, `3 min 20 s` or `2 h 5 min`. */
export function elapsedText(ms: number): string {
  const [seconds, minutes, hours] = [Math.round(ms / 1_000), Math.floor(ms / 60_000), Math.floor(ms / 3_600_000)];
  if (minutes === 0) return secondsText(ms);
  return hours === 0 ? `${minutes} min ${seconds - 60 * minutes} s` : `${hours} h ${minutes - 60 * hours} min`;
}

/** A limit of some seconds or less, such as `6.67 s` or `200 ms`. */
export function secondsText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${THREE_DIGITS.format(ms / 1_000)} s`;
}
