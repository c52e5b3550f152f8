import type { CallbackFilters, CallbackView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { api } from "../../client.ts";
import { EndlessEnd, itemsOf, useEndless } from "../../parts/endless.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Nothing } from "../../parts/nothing.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import type { Live } from "./live.ts";

const LIMIT = 50;

interface Props {
  readonly caption: string;
  readonly filters: CallbackFilters;
  readonly columns: readonly Column<CallbackView>[];
  readonly live: Live;
  /** Said of an empty list. */
  readonly nothing: ReactNode;
}

/** The callback log, endless, with what comes in above it. */
export function CallbackList({ caption, filters, columns, live, nothing }: Props) {
  const list = useEndless(["callbacks", filters], (cursor) =>
    api.callbacks.list({ ...filters, ...cursor, limit: LIMIT }),
  );
  if (list.isPending) return <Loading what="the callbacks" />;
  const read = itemsOf(list);
  const known = new Set(read.map(({ id }) => id));
  const arrived = live.rows.filter(({ id }) => !known.has(id));
  const rows = [...arrived, ...read];
  const isNew = ({ id }: CallbackView) => !known.has(id);
  return (
    <>
      {list.isError && !list.isFetchNextPageError && (
        <Problem
          error={list.error}
          title="The callbacks could not be read"
          again={() => void list.refetch()}
        />
      )}
      {rows.length === 0 && list.data !== undefined && !list.hasNextPage && <Nothing>{nothing}</Nothing>}
      {rows.length > 0 && (
        <Rows caption={caption} columns={columns} rows={rows} keyOf={({ id }) => id} isNew={isNew} />
      )}
      <EndlessEnd list={list} />
    </>
  );
}
