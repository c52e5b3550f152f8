import type { Measurement } from "../rounds/measurement.ts";

/** The rounds of one entrant in one case: medians of those that count. */
export interface Summary {
  readonly case: string;
  readonly entrant: string;
  readonly rounds: number;
  readonly valid: number;
  /** Why rounds did not count, each reason once. */
  readonly faults: readonly string[];
  readonly medians: Readonly<Partial<Record<Figure, number>>>;
  /** The slowest and the fastest round that counts. */
  readonly rates: readonly [number, number] | undefined;
}

export const FIGURES = [
  "rate",
  "refusedRate",
  "p50",
  "p99",
  "p999",
  "cpu",
  "databaseCpu",
  "allocated",
  "rss",
  "peak",
  "startMs",
  "startCpuMs",
  "rssGrowth",
] as const satisfies readonly (keyof Measurement)[];
export type Figure = (typeof FIGURES)[number];

/** @throws RangeError for no values, of which there is no median */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("no values have no median");
  const sorted = [...values].sort((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The smallest value that so many percent of all do not exceed; NaN for none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}

/** One summary for each entrant of each case, in the order of their first rounds. */
export function summarise(measurements: readonly Measurement[]): Summary[] {
  const groups = Map.groupBy(measurements, (one) => `${one.case}\n${one.entrant}`);
  return [...groups.values()].map(summaryOf);
}

function summaryOf(rounds: readonly Measurement[]): Summary {
  const [{ case: name, entrant } = { case: "", entrant: "" }] = rounds;
  const valid = rounds.filter(({ invalid }) => invalid.length === 0);
  const medians: Partial<Record<Figure, number>> = {};
  for (const figure of FIGURES) {
    const values = valid.map((round) => round[figure]).filter((value) => Number.isFinite(value));
    if (values.length > 0) medians[figure] = median(values as number[]);
  }
  const rates = valid.flatMap(({ rate }) => (rate === undefined ? [] : [rate]));
  return {
    case: name,
    entrant,
    rounds: rounds.length,
    valid: valid.length,
    faults: [...new Set(rounds.flatMap(({ invalid }) => invalid))],
    medians,
    rates: rates.length === 0 ? undefined : [Math.min(...rates), Math.max(...rates)],
  };
}

/** The median of one entrant's figure in one case, where there is one. */
export function figureOf(
  summaries: readonly Summary[],
  name: string,
  entrant: string,
  figure: Figure,
): number | undefined {
  return summaries.find((one) => one.case === name && one.entrant === entrant)?.medians[figure];
}
