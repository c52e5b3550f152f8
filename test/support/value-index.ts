import { searchCallbacks } from "../../src/admin/search/search-callbacks.ts";
import { type Clock, DAY_MS, parseSearchQuery } from "../../src/domain/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createValueIndexer } from "../../src/upkeep/index.ts";

export const SEGMENT_IDS = 40;

/** Its day is over: on PostgreSQL no transaction of it is left. */
export function handClock(): Clock & { ahead: number } {
  return {
    ahead: 0,
    now() {
      return new Date(Date.now() + this.ahead);
    },
  };
}

export function indexerOf(store: Store, clock = handClock()) {
  const log = { warn: () => {} } as never;
  const indexer = createValueIndexer({ store, clock, log, activeCallbacks: () => 0, segmentIds: SEGMENT_IDS });
  return {
    ...indexer,
    /** On PostgreSQL a round notes which rows there are, and a later one indexes them. @returns how many segments */
    async build() {
      let built = 0;
      for (let day = 0; day < 3; day += 1) {
        built += await indexer.round();
        clock.ahead += DAY_MS;
      }
      return built;
    },
  };
}

/** What a query finds, page after page: `exact 12` for the row of `request-12`. */
export async function find(store: Store, query: string, limit = 100) {
  const parsed = parseSearchQuery(query, new Date());
  const found: string[] = [];
  for (let from: Parameters<typeof searchCallbacks>[1]["from"]; ; ) {
    const page = await searchCallbacks(store, { query: parsed, limit, from, budgetMs: 1_000 });
    found.push(...page.found.map(({ row: one, match }) => `${match?.kind} ${one.requestId.replace("request-", "")}`));
    if (page.next === null) return found;
    from = page.next;
  }
}
