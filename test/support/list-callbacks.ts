import type { CallbackFilter } from "../../src/domain/index.ts";
import type { Page, Store, StoredCallback } from "../../src/store/index.ts";

/** Longer than any search of a test takes. */
const BUDGET_MS = 30_000;

/** Rows of the callback log, newest first. */
export async function listCallbacks(
  { callbacks }: Pick<Store, "callbacks">,
  page: Page,
  filter: CallbackFilter = {},
): Promise<readonly StoredCallback[]> {
  return (await callbacks.search(filter, { ...page, budgetMs: BUDGET_MS })).callbacks;
}
