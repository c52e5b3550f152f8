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

/** Pauses, resumes or ends a bulk replay. */
export function ReplayActions({ replay: { id, state, done, total } }: { readonly replay: BulkReplayView }) {
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure();
  const act = useMutation({
    mutationFn: (action: Action) => api.bulkReplays[action](id),
    onSettled: () => {
      asking.close();
      return queries.invalidateQueries({ queryKey: ["bulk-replays"] });
    },
  });
  const actions = POSSIBLE[state];
  if (!useMayChange() || actions.length === 0) return null;
  return (
    <>
      <Group gap="xs">
        {actions.map((action) => (
          <Button
            key={action}
            size="compact-sm"
            variant="default"
            disabled={act.isPending}
            onClick={() => (action === "cancel" ? asking.open() : act.mutate(action))}
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
        {done} of {total} are done and stay so; the others stay as they are. It cannot be resumed: only a new one
        replays them.
      </Confirm>
    </>
  );
}
