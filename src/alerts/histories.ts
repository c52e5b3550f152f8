import { setImmediate as nextTurn } from "node:timers/promises";
import type { Alerts, ArrivalKey, ArrivalSubject, StoredAlert } from "../store/index.ts";
import { AUTHENTIC, REFUSED, SERVING } from "./arrival-counts.ts";
import {
  DAY,
  HOUR,
  SIGNATURE_WINDOWS,
  type SignatureHistory,
  type SilenceHistory,
  slotOf,
  WEEK,
  WEEKS,
} from "./policy.ts";

type Range = readonly [from: number, to: number];

const LONGEST_WINDOW = Math.max(...SIGNATURE_WINDOWS);
const WEEKS_BACK = Array.from({ length: WEEKS + 1 }, (_, week) => week * WEEK);

/**
 * What the signatures of a source are judged by; undefined where none was refused lately or none was ever good, which is nearly
 * always and costs nothing.
 */
export async function signatureHistory(
  store: Alerts,
  source: string,
  subjects: readonly ArrivalSubject[],
  slot: number,
  alert: StoredAlert | undefined,
): Promise<SignatureHistory | undefined> {
  const of = (subject: string) => subjects.find((one) => one.source === source && one.subject === subject);
  const authentic = of(AUTHENTIC);
  const isOpen = alert?.isOpen === true;
  if (authentic === undefined) return undefined;
  if (!isOpen && (of(REFUSED)?.lastSlot ?? 0) <= slot - LONGEST_WINDOW) return undefined;
  const windows = WEEKS_BACK.map((back): Range => [slot - back - LONGEST_WINDOW, slot - back + 1]);
  const yesterday: Range = [slot - DAY - LONGEST_WINDOW, slot - LONGEST_WINDOW];
  return {
    slot,
    authentic: await countsIn(store, authentic, [...windows, yesterday]),
    refused: await countsIn(store, { source, subject: REFUSED }, windows.slice(0, 1)),
    firstSlot: authentic.firstSlot,
    ...openedIn(alert),
    ...(alert?.isOpen === false ? { closedIn: slotOf(alert.notifiedAt) } : {}),
  };
}

/** Shorter than the shortest silence that is judged. */
const QUIET = 4;

/** What the silence of an event type is judged by; undefined where it is not silent, or has not come for a week anyway. */
export async function silenceHistory(
  store: Alerts,
  subject: ArrivalSubject,
  slot: number,
  alert: StoredAlert | undefined,
): Promise<SilenceHistory | undefined> {
  const { firstSlot, lastSlot } = subject;
  const known = { slot, firstSlot, lastSlot, ...openedIn(alert) };
  if (alert?.isOpen === true) return { ...known, serving: new Set(), counts: new Map() };
  if (lastSlot >= slot - QUIET || lastSlot < slot - WEEK || firstSlot > slot - 2 * WEEK) return undefined;
  const dayBefore = WEEKS_BACK.map((back): Range => [lastSlot + 1 - DAY - back, lastSlot + 1 - back]);
  const silent = WEEKS_BACK.slice(1).map(
    (back): Range => [Math.max(lastSlot + 1, slot - DAY) - back - HOUR, slot - back + HOUR],
  );
  const serving = await store.arrivals(SERVING, slot - DAY, slot);
  return {
    ...known,
    serving: new Set(serving.map((one) => one.slot)),
    counts: await countsIn(store, subject, [...dayBefore, ...silent]),
  };
}

function openedIn(alert: StoredAlert | undefined): { openedIn?: number } {
  return alert?.isOpen === true ? { openedIn: slotOf(alert.since) } : {};
}

/** One short query a turn of the event loop: on SQLite each of them holds everybody up while it runs. */
async function countsIn(
  store: Alerts,
  key: ArrivalKey,
  ranges: readonly Range[],
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  for (const [from, to] of ranges) {
    await nextTurn();
    for (const { slot, count } of await store.arrivals(key, from, to)) counts.set(slot, count);
  }
  return counts;
}
