import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BulkReplayView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/page-states.tsx";
import { useMayChange } from "../../session.ts";

const WORDS = { pause: "Pause", resume: "Resume", cancel: "Cancel" } as const;
type Action = keyof typeof WORDS;

const POSSIBLE: Readonly<Record<BulkReplayView["state"], readonly Action[]>> = {
  running: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  cancelled: [],
  done: [],
};

export function BulkReplayActions({ replay }: { readonly replay: BulkReplayView }) {
  const { id, state, filter, started_at, done, total } = replay;
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure();
  const act = useMutation({
    mutationFn: (action: Action) => api.bulkReplays[action](id),
    onSettled: () => {
      asking.close();
      return queries.invalidateQueries({ queryKey: ["bulk-replays"] });
    },
  });
  if (!useMayChange()) return null;
  const named = `${describeFilter(filter)}, started ${new Date(started_at).toLocaleString()}`;
  return (
    <>
      <Group gap="xs">
        {POSSIBLE[state].map((action) => (
          <Button
            key={action}
            size="compact-sm"
            variant="default"
            disabled={act.isPending}
            onClick={() => (action === "cancel" ? asking.open() : act.mutate(action))}
            aria-label={`${WORDS[action]}: ${named}`}
          >
            {WORDS[action]}
          </Button>
        ))}
      </Group>
      {act.isError && <Problem error={act.error} title="It could not be done" />}
      <Confirm
        title="Cancel this bulk replay?"
        action="Cancel it"
        isOpen={isAsking}
        isBusy={act.isPending}
        onConfirm={() => act.mutate("cancel")}
        onClose={asking.close}
      >
        {done} of {total} are done and stay so; the others stay as they are. It cannot be gone on with: only a new one
        replays them.
      </Confirm>
    </>
  );
}

/** Which failures are replayed, as the table says it. */
export function describeFilter(filter: BulkReplayView["filter"]): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null);
  return set.length === 0 ? "all" : set.map(([name, value]) => `${name} ${value}`).join(", ");
}
