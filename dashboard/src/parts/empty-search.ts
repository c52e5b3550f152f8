import type { Page } from "../views.ts";

/** A bounded search continues by itself past so many empty pages; then it asks. */
const MAX_EMPTY_PAGES = 20;

/** Whether a search should ask before it continues. @param askedAt the number of pages at the last "Load more" */
export function isEmptySearch(pages: readonly Page<unknown>[], askedAt: number): boolean {
  const endOfItems = pages.findLastIndex(({ items }) => items.length > 0) + 1;
  // Another list, or the same one from its beginning, has fewer pages than before.
  const since = askedAt > pages.length ? 0 : askedAt;
  return pages.length - Math.max(endOfItems, since) >= MAX_EMPTY_PAGES;
}
