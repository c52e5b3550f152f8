import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredInteger } from "./tables.ts";
import type { Dialect } from "./transaction.ts";
/** Newest first: rows with an id below `before`. */
export interface Page {
  readonly limit: number;
  readonly before?: number;
}

export interface SearchPage extends Page {
  /** How long it may look; one step is always done, however long that takes. */
  readonly budgetMs: number;
}

/** What one search has found, newest first. */
export interface SearchResult<Row> {
  readonly rows: readonly Row[];
  /** Where the search goes on, as `before`; null at its end. */
  readonly next: number | null;
}

/** A stretch of a list that runs oldest first: rows with an id above `after`. */
export interface ForwardPage {
  readonly after: number;
  readonly limit: number;
}

/** On SQLite a step blocks the event loop; on PostgreSQL it only costs a round trip. */
const STEP_MS = { sqlite: 4, postgres: 25 } as const;

/** How many rows a walk looks at in its first step, and at most in any. */
export interface StepSizes {
  readonly first: number;
  readonly most: number;
}

/**
 * Looks at the next `step` rows with an id below, newest first, and returns at most `limit` of those that are meant. `reached`
 * is the oldest id that was looked at; undefined where there is none below it.
 */
export type SearchStep<Row> = (
  below: number,
  step: number,
  limit: number,
) => Promise<{ readonly rows: readonly Row[]; readonly reached: number | undefined }>;

/**
 * Looks at the rows from the newest on, a step at a time with a turn of the event loop between, until it has found enough, has
 * come to the end, or its time is over.
 */
export async function boundedSearch<Row extends { readonly id: StoredInteger }>(
  dialect: Dialect,
  { first, most }: StepSizes,
  { limit, before = Number.MAX_SAFE_INTEGER, budgetMs }: SearchPage,
  searchStep: SearchStep<Row>,
): Promise<SearchResult<Row>> {
  const end = performance.now() + budgetMs;
  const found: Row[] = [];
  let below = before;
  for (let step = first; ; ) {
    const begun = performance.now();
    // One more than asked for tells whether there is another page.
    const { rows, reached } = await searchStep(below, step, limit + 1 - found.length);
    found.push(...rows);
    if (found.length > limit) return { rows: found.slice(0, limit), next: Number(found[limit - 1]?.id) };
    if (reached === undefined) return { rows: found, next: null };
    below = reached;
    const now = performance.now();
    if (now >= end) return { rows: found, next: below };
    step = Math.min(nextStep(step, now - begun, STEP_MS[dialect]), most);
    await nextTurn();
  }
}

function nextStep(step: number, took: number, wanted: number): number {
  if (took > wanted) return Math.max(1, Math.floor(step / 2));
  return took < wanted / 2 ? step * 2 : step;
}
