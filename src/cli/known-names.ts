import type { AdminClient, PageOf, PageParams } from "../admin-client/index.ts";
import { sourceOf } from "../domain/index.ts";
import { unknownSource } from "./send-commands.ts";

/** Looks on where a page is empty and has a cursor: that search has found nothing yet. */
export async function firstFound<Item, Query extends PageParams>(
  query: Query,
  list: (query: Query) => Promise<PageOf<Item>>,
): Promise<PageOf<Item>> {
  let page = await list(query);
  while (page.items.length === 0 && page.next_cursor !== null)
    page = await list({ ...query, cursor: page.next_cursor });
  return page;
}

/**
 * For a filter that has found nothing: a source that was removed has its events still.
 * @throws UsageError for a source that is neither configured nor has an event
 */
export async function assertSource(client: AdminClient, source: string | undefined): Promise<void> {
  if (source === undefined) return;
  const { items, oauth } = await client.sources.list();
  const names = items.map((one) => ({ name: one.source }));
  const served = oauth === null ? names : [...names, { name: "oauth" }];
  if (served.some(({ name }) => name === sourceOf({ source }))) return;
  const query = { source, limit: 1 };
  const lists = [client.events.list, client.failures.list, client.callbacks.list];
  for (const list of lists) if ((await firstFound<unknown, typeof query>(query, list)).items.length > 0) return;
  throw unknownSource(source, served);
}

/** @throws AdminError for a problem that there is none of */
export async function assertProblem({ problems }: AdminClient, id: string | undefined): Promise<void> {
  if (id !== undefined) await problems.get(id, { limit: 1 });
}
