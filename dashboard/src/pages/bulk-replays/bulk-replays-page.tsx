import { api } from "../../client.ts";
import { EndlessEnd, itemsOf, useEndless } from "../../parts/endless.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Nothing } from "../../parts/nothing.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Rows } from "../../parts/rows.tsx";
import { COLUMNS } from "./bulk-replay-columns.tsx";

const EVERY_MS = 2_000;

export function BulkReplaysPage() {
  const list = useEndless(["bulk-replays"], api.bulkReplays.list, EVERY_MS);
  const rows = itemsOf(list);
  return (
    <>
      <PageTitle
        title="Bulk replays"
        says="Failures that are run again together, how far that is, and what came of it."
      />
      {list.isPending && <Loading what="the bulk replays" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem
          error={list.error}
          title="The bulk replays could not be read"
          again={() => void list.refetch()}
        />
      )}
      {list.isSuccess && rows.length === 0 && (
        <Nothing>
          There has been none. Filter the <PageLink to="/failures">failures</PageLink>, and replay all of them
          from there.
        </Nothing>
      )}
      {rows.length > 0 && (
        <Rows caption="Bulk replays" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
      <EndlessEnd list={list} />
    </>
  );
}
