import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import {
  countsOf,
  describeRefusedSource,
  isRefusal,
  isRefusedSource,
  MIN_REFUSED,
  OUTCOMES,
  OVERVIEW_RANGES,
  type PeriodCount,
  QUARTER_SECONDS,
  type RefusalCounts,
  type RefusedSource,
  signatureOf,
} from "../../domain/index.ts";
import { Area, type IdRow } from "../database.ts";
import { Alerts } from "./alerts.ts";
import { Callbacks } from "./callback-log.ts";
import { boundedSearch, idsByTime, stepThrough } from "./paging.ts";

const DAY_SECONDS = 86_400;
const MINUTE_SECONDS = OVERVIEW_RANGES.hour.stepSeconds;
/** Each query holds up the event loop on SQLite. */
const QUARTERS_A_QUERY = 12;
/** The newest callbacks up to the last authentic one: where authentic ones come from. */
const ROWS_READ = 50;
/** The refused ones since; more are counted by the minute. */
const REFUSED_READ = 500;
/** On a busy receiver the log of a minute is long. Without it, `since` is exact to the minute. */
const BUDGET_MS = 40;
/** A count's minute is reckoned from a duration: near its border the row may lie in the next one. */
const BORDER_SECONDS = 1;
const REFUSALS = OUTCOMES.filter(isRefusal);

/** The sources whose callbacks were authentic, and are all refused since. */
export class RefusedSources extends Area {
  async list(now: Date): Promise<RefusedSource[]> {
    const seconds = Math.floor(now.getTime() / 1_000);
    const sources = Map.groupBy(await this.outcomes(seconds - DAY_SECONDS, seconds + 1), ({ source }) => source);
    const refused: RefusedSource[] = [];
    for (const [source, periods] of sources) {
      // Requests to no source's address have an empty source.
      if (source === "" || !isSuspect(periods)) continue;
      const found = await this.lookAt(source, periods, seconds);
      if (found !== undefined) refused.push(found);
    }
    return refused;
  }

  private async lookAt(source: string, periods: readonly PeriodCount[], now: number) {
    const counts = await this.countsSince(source, periods, now);
    if (counts === undefined) return undefined;
    const { since, addresses: authentic } = await this.lastAuthentic(source, counts.lastAuthentic);
    const from = since ?? new Date((counts.lastAuthentic + MINUTE_SECONDS) * 1_000).toISOString();
    const search = { limit: REFUSED_READ, budgetMs: BUDGET_MS };
    const found = await new Callbacks(this.database).search({ source, outcomes: REFUSALS, from }, search);
    const refused = found.callbacks.filter(({ receivedAt }) => receivedAt > from);
    const [newest] = refused;
    // The counts begin with the next minute. Up to a bound, the log is exact.
    const count = Math.max(counts.count, refused.length);
    const lastRefused = newest === undefined ? counts.lastRefused : Date.parse(newest.receivedAt) / 1_000;
    const minuteEnd = new Date((counts.lastAuthentic + MINUTE_SECONDS) * 1_000).toISOString();
    // The counts of its minute do not tell which refused ones came after it; the log does.
    const after = refused.filter(({ receivedAt }) => receivedAt < minuteEnd).length;
    const before = { ...counts.before, wrong: Math.max(0, counts.before.wrong - after) };
    const oldest = refused.length < count ? undefined : refused.at(-1);
    const firstRefused = oldest === undefined ? counts.firstRefused : Date.parse(oldest.receivedAt) / 1_000;
    const outcome = newest?.outcome ?? counts.outcome;
    const all = { ...counts, before, count, firstRefused, lastRefused, outcome };
    const senders = { authentic, refused: refused.map(({ remoteAddress }) => remoteAddress) };
    if (!isRefusedSource(all, senders, now)) return undefined;
    const diagnosed = refused.find(({ diagnosis }) => diagnosis !== undefined);
    return describeRefusedSource(all, diagnosed?.diagnosis?.remedy, since);
  }

  /** The counts after the minute of the last authentic callback, and those of the day up to it. */
  private async countsSince(
    source: string,
    day: readonly PeriodCount[],
    now: number,
  ): Promise<RefusalCounts | undefined> {
    const quarter = lastAuthenticSlot(day) ?? (await this.lastAuthenticQuarter(source, day));
    if (quarter === undefined) return undefined;
    const isIts = (one: PeriodCount) => one.source === source;
    const minutes = (await this.periods(quarter, quarter + QUARTER_SECONDS, MINUTE_SECONDS)).filter(isIts);
    // Minutes are kept for two days: beyond, the quarter-hour stands for its last minute.
    const last = lastAuthenticSlot(minutes) ?? quarter + QUARTER_SECONDS - MINUTE_SECONDS;
    const after = [...day.filter(({ slot }) => slot > quarter), ...minutes.filter(({ slot }) => slot > last)];
    const earlier = (await this.outcomes(quarter - DAY_SECONDS, quarter)).filter(isIts);
    const refusals = after.filter(({ outcome }) => isRefusal(outcome));
    const [most] = refusals.toSorted((one, other) => other.count - one.count);
    return {
      source,
      count: countsOf(refusals).wrong + countsOf(refusals).unsigned,
      lastAuthentic: last,
      firstRefused: refusals.length === 0 ? last : Math.min(...refusals.map(({ slot }) => slot)),
      lastRefused: Math.max(last, ...refusals.map(({ slot }) => slot)),
      outcome: most?.outcome ?? "",
      hourly: hourlyOf(
        day.filter(({ slot, outcome }) => slot >= quarter && isRefusal(outcome)),
        now,
      ),
      before: countsOf([...earlier, ...minutes.filter(({ slot }) => slot <= last)]),
    };
  }

  /** More than a day ago, for as long as the quarter-hours are kept. */
  private async lastAuthenticQuarter(source: string, day: readonly PeriodCount[]): Promise<number | undefined> {
    const end = Math.min(...day.map(({ slot }) => slot));
    const earliest = end - OVERVIEW_RANGES.day.keptSeconds;
    for (let to = end; to > earliest; to -= QUARTERS_A_QUERY * QUARTER_SECONDS) {
      const found = await this.periods(to - QUARTERS_A_QUERY * QUARTER_SECONDS, to, QUARTER_SECONDS);
      const last = lastAuthenticSlot(found.filter((one) => one.source === source));
      if (last !== undefined) return last;
      await nextTurn();
    }
    return undefined;
  }

  /** When the last authentic callback came, if a short search of the log finds it, and where such came from. */
  private async lastAuthentic(source: string, minute: number) {
    const end = new Date((minute + MINUTE_SECONDS + BORDER_SECONDS) * 1_000).toISOString();
    const ids = await idsByTime(this.database, "oncehook_callbacks", "received_at");
    const before = await ids.firstSince(end);
    const { rows } = await boundedSearch(
      this.database.dialect,
      { limit: ROWS_READ, before, budgetMs: BUDGET_MS },
      stepThrough<IdRow & { readonly receivedAt: string; readonly outcome: string; readonly remoteAddress: string }>(
        this.database,
        {
          table: "oncehook_callbacks",
          columns: sql`id, received_at, outcome, remote_address`,
          where: sql`source = ${source}`,
        },
      ),
    );
    const authentic = rows.filter(({ outcome }) => signatureOf(outcome) === "authentic");
    return { since: authentic[0]?.receivedAt, addresses: authentic.map(({ remoteAddress }) => remoteAddress) };
  }

  /** By the quarter-hour; the one that holds `from` as a whole. */
  private async outcomes(from: number, to: number): Promise<PeriodCount[]> {
    const found: PeriodCount[] = [];
    const step = QUARTERS_A_QUERY * QUARTER_SECONDS;
    for (let start = from - (from % QUARTER_SECONDS); start < to; start += step) {
      found.push(...(await this.periods(start, Math.min(start + step, to), QUARTER_SECONDS)));
      await nextTurn();
    }
    return found;
  }

  private periods(from: number, to: number, stepSeconds: number): Promise<readonly PeriodCount[]> {
    return new Alerts(this.database).outcomes(from, to, stepSeconds);
  }
}

/** Enough were refused since the quarter-hour with the last authentic callback began. */
function isSuspect(periods: readonly PeriodCount[]): boolean {
  const last = lastAuthenticSlot(periods) ?? 0;
  const refusals = periods.filter(({ slot, outcome }) => slot >= last && isRefusal(outcome));
  return refusals.reduce((sum, { count }) => sum + count, 0) >= MIN_REFUSED;
}

function lastAuthenticSlot(periods: readonly PeriodCount[]): number | undefined {
  const slots = periods.filter(({ outcome }) => signatureOf(outcome) === "authentic").map(({ slot }) => slot);
  return slots.length === 0 ? undefined : Math.max(...slots);
}

/** The counts of the last 24 hours, each from the hour's beginning; the last one is not over. */
function hourlyOf(periods: readonly PeriodCount[], now: number): number[] {
  const hours = new Array<number>(24).fill(0);
  for (const { slot, count } of periods) {
    const index = 23 - (Math.floor(now / 3_600) - Math.floor(slot / 3_600));
    if (hours[index] !== undefined) hours[index] += count;
  }
  return hours;
}
