import { Progress, Text } from "@mantine/core";
import type { BulkReplayView } from "oncehook/admin-client";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import type { Column } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { BulkReplayActions } from "./bulk-replay-actions.tsx";
import { filterInWords } from "./filter-in-words.ts";

export const COLUMNS: readonly Column<BulkReplayView>[] = [
  {
    head: "Begun",
    cell: ({ begun_at, by }) => (
      <>
        <Time at={begun_at} />
        <Text size="sm">by {by}</Text>
      </>
    ),
  },
  {
    head: "Failures",
    cell: ({ filter, per_second }) => `${filterInWords(filter)}; ${per_second} a second at most`,
  },
  { head: "State", cell: ({ state }) => <OutcomeBadge outcome={state} /> },
  { head: "Progress", cell: (replay) => <Done replay={replay} /> },
  { head: "Ended", cell: ({ ended_at }) => <Time at={ended_at} /> },
  { head: "Actions", cell: (replay) => <BulkReplayActions replay={replay} /> },
];

function Done({ replay }: { readonly replay: BulkReplayView }) {
  const { total, done, succeeded, already, failed } = replay;
  const percent = total === 0 ? 100 : Math.round((done / total) * 100);
  return (
    <>
      <Progress value={percent} miw={120} aria-label={`${done} of ${total} done`} />
      <Text size="sm">
        {done} of {total}: {succeeded} handled, {already} had been, {failed} failed again
      </Text>
    </>
  );
}
