/**
 * When an alert starts and when it resolves, as pure functions. See docs/monitoring.md for the rules, and decision 0058
 * for the reasons for their numbers.
 */
import { HOUR_MS, MIN_REFUSED, MIN_USUAL, QUARTER_SECONDS, type SignatureCounts } from "../domain/index.ts";
import type { ArrivalDay, StoredAlert } from "../store/index.ts";

export type AlertTransition = "starts" | "grows" | "shrinks" | "resolves" | "unchanged";

export type NotifiedFailures = Pick<StoredAlert, "isOpen" | "notifiedCount" | "notifiedAt">;

/**
 * Exhausted failures of one event type. A growing number sends another notification, at most once an hour. An outage with
 * thousands of failures must not send thousands of messages.
 */
export function evaluateFailures(
  { isOpen, notifiedCount, notifiedAt }: NotifiedFailures,
  { count, isComplete }: { readonly count: number; readonly isComplete: boolean },
  now: Date,
): AlertTransition {
  if (!isOpen) return count > 0 ? "starts" : "unchanged";
  if (!isComplete && count <= notifiedCount) return "unchanged";
  if (count === 0) return "resolves";
  if (count < notifiedCount) return "shrinks";
  // After the clock was set back, the last notification lies in the future.
  const age = Math.abs(now.getTime() - notifiedAt.getTime());
  return count > notifiedCount && age >= HOUR_MS ? "grows" : "unchanged";
}

/**
 * Resolves at half the limit, so that an overload that keeps events at about the limit is one alert. The age is undefined
 * where no event of the source was found.
 */
export function evaluateAccepted(
  isOpen: boolean,
  { ageMs, isComplete }: { readonly ageMs: number | undefined; readonly isComplete: boolean },
  limitMs: number,
): AlertTransition {
  if (!isOpen) return (ageMs ?? 0) > limitMs ? "starts" : "unchanged";
  const isRestored = ageMs === undefined ? isComplete : ageMs <= limitMs / 2;
  return isRestored ? "resolves" : "unchanged";
}

export const HOUR = 4;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;
/** The counts of a quarter-hour are complete a minute after its end. */
const COUNTED_AFTER_MS = 60_000;

export function quarterOf(time: Date): number {
  return Math.floor(time.getTime() / 1_000 / QUARTER_SECONDS);
}

export function lastFullQuarter(now: Date): number {
  return quarterOf(new Date(now.getTime() - COUNTED_AFTER_MS)) - 1;
}

/** An hour for a busy source, a day for a quiet one. */
const WINDOWS = [HOUR, DAY];
const MIN_RETURNED = 3;

export interface SignatureHistory {
  readonly last: number;
  /** How many quarter-hours earlier the usual number is found: see `comparedWith`. */
  readonly shift: number;
  /** By the quarter-hour, numbered from the epoch. */
  readonly quarters: ReadonlyMap<number, SignatureCounts>;
  readonly isOpen: boolean;
  readonly changedIn?: number;
}

/** Wrong signatures by themselves start nothing: no other sender can reduce the number of authentic callbacks. */
export function evaluateSignatures(history: SignatureHistory): AlertTransition {
  const windows = WINDOWS.map((length) => windowOf(history, length));
  if (history.isOpen) return windows.some(isRestored) ? "resolves" : "unchanged";
  return windows.some(isFailing) ? "starts" : "unchanged";
}

/** A week earlier; a day earlier until that is known. @param first the first quarter-hour that is known */
export function comparedWith(last: number, first: number): number {
  return last + 1 - DAY - WEEK >= first ? WEEK : DAY;
}

type Window = ReturnType<typeof windowOf>;

/**
 * Quarter-hours up to the last change do not count: they would start or resolve the alert a second time.
 * @returns `usual`: authentic callbacks in the same quarter-hours earlier
 */
function windowOf({ last, shift, quarters, changedIn }: SignatureHistory, length: number) {
  // A change that lies ahead was made before the clock was set back.
  const after = changedIn === undefined || changedIn > last + 2 ? 0 : changedIn;
  const from = Math.max(last + 1 - length, after + 1);
  const sum = (member: keyof SignatureCounts, earlier = 0) => {
    let total = 0;
    for (let quarter = from; quarter <= last; quarter += 1) total += quarters.get(quarter - earlier)?.[member] ?? 0;
    return total;
  };
  const authentic = sum("authentic");
  const refused = sum("wrong") + (authentic === 0 ? sum("unsigned") : 0);
  return { authentic, refused, usual: sum("authentic", shift) };
}

function isFailing({ authentic, refused, usual }: Window): boolean {
  return usual >= MIN_USUAL && refused >= MIN_REFUSED && refused > authentic && 4 * authentic < usual;
}

/** The alert starts at a quarter of the usual number: resolving at half of it prevents flapping. */
function isRestored({ authentic, refused, usual }: Window): boolean {
  return authentic >= MIN_RETURNED && (authentic > refused || 2 * authentic >= usual);
}

const DAYS = 7;
const GAPS = 4;

type SilenceLimit = NonNullable<ReturnType<typeof silenceLimit>>;

/**
 * Four times the longest gap of the seven days (UTC) up to the last callback, at least an hour.
 * @param days all of one event type
 * @param floor fewer callbacks than these in the seven days have no limit
 * @returns `limitMs`: a silence of this length starts the alert. Undefined also where the counts span less than a week.
 */
export function silenceLimit(days: readonly ArrivalDay[], floor: number) {
  const sorted = days.toSorted((a, b) => a.day - b.day);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined || first.day > last.day - DAYS) return undefined;
  const recent = sorted.filter(({ day }) => day > last.day - DAYS);
  if (recent.reduce((sum, { count }) => sum + count, 0) < floor) return undefined;
  const longest = Math.max(...recent.map(({ longestGapMs }) => longestGapMs));
  return { lastAt: last.lastAt, limitMs: Math.max(HOUR_MS, GAPS * longest) };
}

/** @param observedSince silence before it may be that no receiver was running */
export function isSilent({ lastAt, limitMs }: SilenceLimit, observedSince: Date, now: Date): boolean {
  return now.getTime() - Math.max(lastAt.getTime(), observedSince.getTime()) >= limitMs;
}
