import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { UnreplayedEventView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";

interface Props {
  readonly id: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The handled events that a bulk replay did not run, each with its reason. */
export function UnreplayedEvents({ id, failed, skipped }: Props) {
  const [isOpen, dialog] = useDisclosure();
  const counts = [failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`].filter(Boolean);
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={dialog.open}>
        View {counts.join(", ")}
      </Button>
      <Dialog isOpen={isOpen} close={dialog.close} title={`Not run by bulk replay ${id}`} size="xl">
        <List id={id} />
      </Dialog>
    </>
  );
}

function List({ id }: Pick<Props, "id">) {
  const list = useInfiniteList(["unreplayed", id], (query) => api.bulkReplays.unreplayed(id, query));
  if (list.isPending) return <Loading what="its events" />;
  if (list.isError) return <Problem error={list.error} title="Its events could not be read" />;
  return (
    <>
      <Rows caption="Events that were not run" columns={COLUMNS} rows={itemsOf(list)} keyOf={({ id: row }) => row} />
      <InfiniteListEnd list={list} />
    </>
  );
}

const COLUMNS: readonly Column<UnreplayedEventView>[] = [
  {
    head: "Event",
    cell: ({ source, event_id }) => (
      <PageLink to="/activity" search={{ open: `${source}/${event_id}` }}>
        {event_id}
      </PageLink>
    ),
  },
  { head: "Type", cell: ({ event_type }) => event_type },
  { head: "Result", cell: ({ kind, code }) => `${kind}: ${code.replaceAll("_", " ")}` },
  { head: "Reason", cell: ({ error }) => error.split("\n", 1)[0] },
];
