import type { SourceDetailsView } from "../admin/index.ts";
import type { Reconciliation } from "../sources/index.ts";
import type { Store } from "../store/index.ts";

/** Each takes a look-up in the log: some milliseconds together. */
const MOST_READ = 1_000;

type Stores = Pick<Store, "sourceActivity" | "reconciliations" | "endpointChecks">;

/** The events of a source that reached no handler, and its last endpoint check. @param api undefined without `reconcile` */
export async function sourceDetails(
  store: Stores,
  source: string,
  api: Reconciliation | undefined,
): Promise<SourceDetailsView> {
  const { types, since } = await store.sourceActivity.ignoredTypes(source, MOST_READ);
  const check = await store.endpointChecks.last(source);
  return {
    source,
    ignored: {
      types: types.map(({ eventType: event_type, count, firstAt: first_at, lastAt: last_at }) => {
        return { event_type, count, first_at, last_at };
      }),
      since,
    },
    reconcile: api === undefined ? null : await reconcileView(store, source, api),
    last_check: check === undefined ? null : JSON.parse(check),
  };
}

async function reconcileView(store: Stores, source: string, { everyMs }: Reconciliation) {
  const { since = null, through = null, open } = await store.reconciliations.progress(source);
  const { count, lastAt } = await store.sourceActivity.reconciled(source, MOST_READ);
  return {
    every_seconds: everyMs === undefined ? null : Math.round(everyMs / 1_000),
    since,
    through,
    running: open === undefined ? null : { from: open.from, to: open.to, failed: open.failed },
    found: { count, last_at: lastAt },
  };
}
