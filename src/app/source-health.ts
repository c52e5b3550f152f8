import type { SourceHealthView } from "../admin/index.ts";
import {
  countByOutcome,
  eventResponses,
  isoTimeOf,
  lastCallback,
  latencyQuantile,
  OVERVIEW_RANGES,
  outcomeCounts,
  periodStart,
} from "../domain/index.ts";
import type { RollupSlot, Store } from "../store/index.ts";

export interface SourceFacts {
  readonly source: string;
  /** Of its platform; undefined for the built-in protocol. */
  readonly title: string | undefined;
  readonly deadlineSeconds: number | undefined;
}

const HOUR_SECONDS = 3_600;
/** Of the hour's periods. */
const PERIOD_SECONDS = 120;
/** A source that called in so many of the 23 hours before is expected to call in this one. */
const USUAL_HOURS = 18;

/** How each source fares. It reads the counts of an hour and a day, which have a bound, and never the log. */
export async function sourceHealth(
  { rollups }: Pick<Store, "rollups">,
  sources: readonly SourceFacts[],
  now: Date,
): Promise<SourceHealthView[]> {
  const from = firstOf("hour", now);
  const hour = Map.groupBy(await rollups.list("hour", from), ({ source }) => source);
  const day = Map.groupBy(await rollups.list("day", firstOf("day", now)), ({ source }) => source);
  return sources.map(({ source, title, deadlineSeconds }) => {
    const minutes = hour.get(source) ?? [];
    const responses = eventResponses(minutes);
    const quarters = eventResponses(day.get(source) ?? []);
    const outcomes = countByOutcome(minutes);
    const last = lastCallback(responses, "hour") ?? lastCallback(quarters, "day");
    return {
      source,
      title: title ?? null,
      state: stateOf(outcomes, quarters, from),
      from: isoTimeOf(from),
      outcomes,
      periods: periodsOf(minutes, from),
      p99_ms: latencyQuantile(responses, 0.99),
      deadline_ms: deadlineSeconds === undefined ? null : Math.round(deadlineSeconds * 1_000),
      last_callback_at: last?.at ?? null,
      last_callback_within_seconds: last?.withinSeconds ?? null,
    };
  });
}

function stateOf(
  outcomes: Readonly<Record<string, number>>,
  quarters: readonly RollupSlot[],
  from: number,
): SourceHealthView["state"] {
  const { handled, duplicates, ignored, refused, failed } = outcomeCounts(outcomes);
  if (failed > 0) return "failing";
  if (refused > handled + duplicates + ignored) return "refusing";
  if (handled + duplicates + ignored + refused > 0) return "ok";
  const hours = new Set(quarters.filter(({ slot }) => slot < from).map(({ slot }) => Math.floor(slot / HOUR_SECONDS)));
  return hours.size >= USUAL_HOURS ? "silent" : "idle";
}

function periodsOf(minutes: readonly RollupSlot[], from: number): Record<string, number>[] {
  const periods = Map.groupBy(minutes, ({ slot }) => Math.floor((slot - from) / PERIOD_SECONDS));
  return Array.from({ length: HOUR_SECONDS / PERIOD_SECONDS }, (_, index) => countByOutcome(periods.get(index) ?? []));
}

function firstOf(range: "hour" | "day", now: Date): number {
  const { stepSeconds, steps } = OVERVIEW_RANGES[range];
  return periodStart(now, stepSeconds) - (steps - 1) * stepSeconds;
}
