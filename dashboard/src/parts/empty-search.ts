import type { Page } from "../views.ts";

/** A bounded search goes on by itself past so many pages in which it has found nothing; then it asks. */
const MAX_EMPTY_PAGES = 20;

/** Whether a search should ask before it goes on. @param askedAt how many pages there were when the user last loaded more */
export function isEmptySearch(pages: readonly Page<unknown>[], askedAt: number): boolean {
  const found = pages.findLastIndex(({ items }) => items.length > 0) + 1;
  // Another list, or the same one from its beginning, has fewer pages than there were.
  const since = askedAt > pages.length ? 0 : askedAt;
  return pages.length - Math.max(found, since) >= MAX_EMPTY_PAGES;
}
