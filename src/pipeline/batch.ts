import type { Outcome } from "../domain/index.ts";

/** As many as fill a group; more would keep other callbacks waiting. */
const MAX_AT_WORK = 32;

/**
 * Runs the items of one callback, some at a time and those of one queue one by one. It settles with one outcome for
 * all. A failure of ours comes first, so that the platform sends the callback again. Items that were rejected are kept:
 * their callback is refused only where nothing in it could be used.
 */
export function runItems<Item>(
  items: readonly Item[],
  start: (item: Item, settle: (outcome: Outcome) => void) => void,
  settle: (outcome: Outcome) => void,
  queueOf: (item: Item) => unknown = (item) => item,
): void {
  const queues = Map.groupBy(items, queueOf).values();
  let left = items.length;
  let worst: Outcome = { kind: "ignored" };
  const startNext = (queue: Item[] | undefined = queues.next().value): void => {
    const item = queue?.shift();
    if (item === undefined) return;
    start(item, (outcome) => {
      worst = left === items.length ? outcome : worse(worst, outcome);
      left -= 1;
      if (left === 0) settle(worst);
      else startNext(queue?.length === 0 ? undefined : queue);
    });
  };
  for (let count = Math.min(MAX_AT_WORK, items.length); count > 0; count -= 1) startNext();
}

const RANKS: readonly Outcome["kind"][] = [
  "refused",
  "rejected",
  "ignored",
  "handshake",
  "already_processed",
  "accepted",
  "success",
  "failed",
];

const rankOf = (outcome: Outcome) => RANKS.indexOf(outcome.kind) + Number(outcome.kind === "failed" && !outcome.isKept);

/** @returns the first of two that rank equally */
export function worse(one: Outcome, other: Outcome): Outcome {
  return rankOf(other) > rankOf(one) ? other : one;
}
