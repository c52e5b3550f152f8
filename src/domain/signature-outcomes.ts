import { outcomeStatus } from "./faults.ts";

/** Callbacks by what their outcomes say of the signature. */
export interface SignatureCounts {
  readonly authentic: number;
  readonly wrong: number;
  readonly unsigned: number;
}

/** Outcomes that only a callback with a valid signature can have, by their names and how these begin. */
const AUTHENTIC =
  /^(?:success|already_processed|accepted|ignored|rejected|result_invalid|body_(?!too_large)|event_|handler_|commit_)/;

/** The state of the signature by an outcome; undefined for one that does not tell, such as an overload. */
export function signatureOf(outcome: string): keyof SignatureCounts | undefined {
  if (AUTHENTIC.test(outcome)) return "authentic";
  if (outcomeStatus(outcome) !== 401 || outcome === "endpoint_check") return undefined;
  return outcome.endsWith("_missing") ? "unsigned" : "wrong";
}

/** Callbacks of a source that ended with an outcome in a period. */
export interface PeriodCount {
  readonly source: string;
  readonly outcome: string;
  /** The start of the period, in seconds since the epoch. */
  readonly slot: number;
  readonly count: number;
}

/** A source whose callbacks were authentic, and are all refused since. */
export interface RefusedSource {
  readonly source: string;
  /** One sentence, with the numbers and the remedy. */
  readonly message: string;
}

const HOUR_SECONDS = 3_600;
export const QUARTER_SECONDS = 900;
export const MIN_REFUSED = 10;
export const MIN_USUAL = 30;

/** By source, the last hour's periods if all callbacks were refused. @param now in seconds since the epoch */
export function suspectSources(minutes: readonly PeriodCount[], now: number): Map<string, PeriodCount[]> {
  const start = now - HOUR_SECONDS;
  const recent = Map.groupBy(
    minutes.filter(({ slot }) => slot >= start - (start % 60)),
    ({ source }) => source,
  );
  return new Map(
    [...recent].filter(([source, periods]) => {
      const { authentic, wrong, unsigned } = countsOf(periods);
      // Requests to no source's address have an empty source.
      return source !== "" && authentic === 0 && wrong + unsigned >= MIN_REFUSED;
    }),
  );
}

/**
 * The sources whose callbacks were refused for an hour, after a day in which nearly all were authentic. Unlike the alert's
 * other rule, it needs no week to compare with. A sender of forgeries can cause it where the platform is silent.
 * @param quarters of the day before, by the quarter-hour
 */
export function refusedSources(
  suspects: ReadonlyMap<string, readonly PeriodCount[]>,
  quarters: readonly PeriodCount[],
  now: number,
): RefusedSource[] {
  const earlier = Map.groupBy(
    quarters.filter(({ slot }) => slot + QUARTER_SECONDS <= now - HOUR_SECONDS),
    ({ source }) => source,
  );
  return [...suspects].flatMap(([source, periods]) => {
    const { wrong, unsigned } = countsOf(periods);
    const before = countsOf(earlier.get(source) ?? []);
    const ofBefore = before.wrong + before.unsigned;
    if (before.authentic < MIN_USUAL || before.authentic < 9 * ofBefore) return [];
    const refusals = periods.filter(({ outcome }) => (signatureOf(outcome) ?? "authentic") !== "authentic");
    const since = new Date(Math.min(...refusals.map(({ slot }) => slot)) * 1_000).toISOString();
    const message =
      `${source}: 0 of ${wrong + unsigned} callbacks authentic since ${since.slice(11, 16)} UTC, in the day before that ` +
      `${before.authentic} of ${before.authentic + ofBefore}: compare its secret with the platform's`;
    return [{ source, message }];
  });
}

function countsOf(periods: readonly PeriodCount[]): SignatureCounts {
  const counts = { authentic: 0, wrong: 0, unsigned: 0 };
  for (const { outcome, count } of periods) {
    const signature = signatureOf(outcome);
    if (signature !== undefined) counts[signature] += count;
  }
  return counts;
}
