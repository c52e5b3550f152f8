const WHOLE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A duration to read: a tenth of a millisecond matters below ten of them. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `${(value < 10 ? TENTHS : WHOLE).format(value)} ms`;
}
