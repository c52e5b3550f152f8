/**
 * When an alert begins and when it is over. Pure: the time comes as the number of a slot, the history as counts. What the
 * numbers are for is explained in docs/alerts.md, and why they are what they are in docs/decisions/0026-alerts.md.
 */

/** How many callbacks came in which slot; a slot that is missing had none. */
export type SlotCounts = ReadonlyMap<number, number>;

export type AlertTransition = "begins" | "grows" | "shrinks" | "over" | "unchanged";

export const SLOT_MS = 300_000;
export const HOUR = 12;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;
/** How many weeks are looked back upon. */
export const WEEKS = 4;

const REPEAT_AFTER_MS = 3_600_000;

export function slotOf(time: Date): number {
  return Math.floor(time.getTime() / SLOT_MS);
}

export interface NotifiedFailures {
  readonly isOpen: boolean;
  readonly notifiedCount: number;
  readonly notifiedAt: Date;
}

/**
 * Exhausted failures of one event type. More of them are told again, once an hour at the most: an operator who leaves one
 * lying must learn of the next, and an outage that brings thousands must not bring thousands of messages.
 */
export function evaluateFailures(
  { isOpen, notifiedCount, notifiedAt }: NotifiedFailures,
  { count, isComplete }: { readonly count: number; readonly isComplete: boolean },
  now: Date,
): AlertTransition {
  if (!isOpen) return count > 0 ? "begins" : "unchanged";
  if (!isComplete && count <= notifiedCount) return "unchanged";
  if (count === 0) return "over";
  if (count < notifiedCount) return "shrinks";
  // A clock that was set back makes the last message young for ever.
  const age = Math.abs(now.getTime() - notifiedAt.getTime());
  return count > notifiedCount && age >= REPEAT_AFTER_MS ? "grows" : "unchanged";
}

/** In slots: a busy source is judged by a quarter of an hour, a quiet one by a day. */
export const SIGNATURE_WINDOWS: readonly number[] = [3, HOUR, 6 * HOUR, 12 * HOUR, DAY];
const MIN_REFUSED = 10;
/** Below it not even none at all is unusual enough. */
const MIN_USUAL = 24;
/** A source is looked at half a million times a year, in four windows. */
const UNLIKELY = 1e-7;
/** A quarter of an hour is too short to tell that it is over: of callbacks of which half fail, most may be good for so long. */
const BACK_WINDOWS = SIGNATURE_WINDOWS.slice(1);
const MIN_BACK = 3;

export interface SignatureHistory {
  /** The slot that is going on. */
  readonly slot: number;
  /** Callbacks whose signature was good, and those that were answered 401. */
  readonly authentic: SlotCounts;
  readonly refused: SlotCounts;
  /** The first slot in which an authentic one came. */
  readonly firstSlot: number;
  /** The slot in which the alert was opened, while it is. */
  readonly openedIn?: number;
  /** The slot in which it was over last, where it ever was. */
  readonly closedIn?: number;
}

/**
 * It begins where authentic callbacks have become far fewer than is usual, and refused ones have come in their place. Strangers
 * add refused ones and take no authentic one away, so that they alone never make it begin.
 */
export function evaluateSignatures(history: SignatureHistory): AlertTransition {
  const { openedIn } = history;
  if (openedIn === undefined) {
    return SIGNATURE_WINDOWS.some((length) => isFailing(history, length)) ? "begins" : "unchanged";
  }
  return BACK_WINDOWS.some((length) => isBack(history, length, openedIn)) ? "over" : "unchanged";
}

function isFailing(history: SignatureHistory, length: number): boolean {
  const from = history.slot + 1 - length;
  // What was told and is over is not told again.
  if (history.closedIn !== undefined && from <= history.closedIn) return false;
  const refused = sum(history.refused, from, length);
  if (refused < MIN_REFUSED) return false;
  const authentic = sum(history.authentic, from, length);
  const usual = usuallyAuthentic(history, from, length);
  return (
    usual >= MIN_USUAL &&
    refused > authentic &&
    authentic <= usual / 2 &&
    inTheirPlace(history, from, length) >= (usual - authentic) / 2 &&
    chanceOfSoFew(authentic, usual) <= UNLIKELY
  );
}

/** How many were refused in the hours in which authentic ones are missing, and no more of them than are missing. */
function inTheirPlace(history: SignatureHistory, from: number, length: number): number {
  const block = Math.min(length, HOUR);
  return range(0, length / block - 1)
    .map((index) => from + index * block)
    .map((start) => {
      const missed = usuallyAuthentic(history, start, block) - sum(history.authentic, start, block);
      return Math.min(Math.max(0, missed), sum(history.refused, start, block));
    })
    .reduce((all, one) => all + one, 0);
}

/** Well above the line at which it began, so that callbacks of which half fail do not open and close it in turn. */
function isBack(history: SignatureHistory, length: number, openedIn: number): boolean {
  const from = Math.max(history.slot + 1 - length, openedIn + 1);
  const kept = history.slot + 1 - from;
  const authentic = sum(history.authentic, from, kept);
  if (authentic < MIN_BACK) return false;
  const usual = usuallyAuthentic(history, history.slot + 1 - length, length);
  const isUsual = usual >= MIN_USUAL && authentic >= 0.8 * usual;
  return isUsual || authentic > 4 * sum(history.refused, from, kept);
}

/** How many to expect: as in the weeks before, in the first week as yesterday, on the first day as just before. */
function usuallyAuthentic({ authentic, firstSlot }: SignatureHistory, from: number, length: number): number {
  const earlier = range(1, WEEKS)
    .map((week) => from - week * WEEK)
    .filter((start) => start >= firstSlot)
    .map((start) => sum(authentic, start, length));
  const usual = usualOf(earlier);
  if (usual !== undefined) return usual;
  if (from - DAY >= firstSlot) return sum(authentic, from - DAY, length);
  return length <= HOUR ? sum(authentic, from - length, length) : 0;
}

/** Bursts make one silent slot no news; in so many slots something must be missing. */
const MIN_SLOTS = 4;
/** A ramp in the morning may come an hour later: summer time ends, or somebody sleeps late. */
export const SHIFTS: readonly number[] = [-HOUR, 0, HOUR];
const MIN_WEEKS = 2;

export interface SilenceHistory {
  /** The slot that is going on, the first one in which the type ever came, and the last one. */
  readonly slot: number;
  readonly firstSlot: number;
  readonly lastSlot: number;
  /** The slots in which a receiver was there to be called. */
  readonly serving: ReadonlySet<number>;
  /** What came: now and in the weeks before. */
  readonly counts: SlotCounts;
  /** The slot in which the alert was opened, while it is. */
  readonly openedIn?: number;
}

/**
 * It begins when nothing has come for so long that `floor` callbacks are missing. If they came by themselves, one by one, that
 * would happen by chance with e⁻ᶠˡᵒᵒʳ; what comes in bursts must be missing in several slots.
 */
export function evaluateSilence(history: SilenceHistory, floor: number): AlertTransition {
  const { openedIn, lastSlot } = history;
  if (openedIn !== undefined) return lastSlot >= openedIn ? "over" : "unchanged";
  const { callbacks, slots } = missing(history);
  return callbacks >= floor && slots >= MIN_SLOTS ? "begins" : "unchanged";
}

/** How many callbacks usually come in the slots that are silent now, and in how many of these slots. */
export function missing(history: SilenceHistory): { readonly callbacks: number; readonly slots: number } {
  const { slot, firstSlot, lastSlot, serving, counts } = history;
  const begin = Math.max(lastSlot + 1, slot - DAY);
  const silent = range(begin, slot - 1).filter((one) => serving.has(one));
  const earliest = Math.min(slot, lastSlot + 1) - DAY - HOUR;
  const weeks = range(1, WEEKS).filter((week) => earliest - week * WEEK >= firstSlot);
  if (weeks.length < MIN_WEEKS || silent.length < MIN_SLOTS) return { callbacks: 0, slots: 0 };
  const leastOf = (count: (slot: number) => number) =>
    usualOf(
      weeks.map((week) => Math.min(...SHIFTS.map((shift) => total(silent, shift - week * WEEK, count)))),
    ) ?? 0;
  const trend = trendOf(history, weeks);
  return {
    callbacks: leastOf((one) => counts.get(one) ?? 0) * trend,
    slots: leastOf((one) => (counts.has(one) ? 1 : 0)),
  };
}

/** What the last day before the silence brought, of what is usual: a source that grows quiet is not silent. */
function trendOf({ lastSlot, counts }: SilenceHistory, weeks: readonly number[]): number {
  const from = lastSlot + 1 - DAY;
  const usual = usualOf(weeks.map((week) => sum(counts, from - week * WEEK, DAY))) ?? 0;
  return usual === 0 ? 1 : Math.min(1, sum(counts, from, DAY) / usual);
}

/**
 * The second smallest of three and more, the smallest of fewer: one holiday or outage among the weeks changes nothing, and a
 * week with a campaign raises nothing.
 */
export function usualOf(counts: readonly number[]): number | undefined {
  const sorted = counts.toSorted((a, b) => a - b);
  return sorted.length < 3 ? sorted[0] : sorted[1];
}

/**
 * How likely so few are where as many as before were due. Both are numbers that chance has drawn, so that of all of them each
 * falls into either time like a coin; a bound from above (Chernoff's) for so few heads.
 */
export function chanceOfSoFew(now: number, before: number): number {
  if (now >= before) return 1;
  const all = now + before;
  const surprise = (part: number) => (part === 0 ? 0 : part * Math.log((2 * part) / all));
  return Math.exp(-surprise(now) - surprise(before));
}

function sum(counts: SlotCounts, from: number, length: number): number {
  let found = 0;
  for (let slot = from; slot < from + length; slot += 1) found += counts.get(slot) ?? 0;
  return found;
}

function total(slots: readonly number[], moved: number, count: (slot: number) => number): number {
  return slots.reduce((found, slot) => found + count(slot + moved), 0);
}

/** Whole numbers, both ends among them. */
function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
