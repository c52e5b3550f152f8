import { Button, Group } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BulkReplayView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Problem } from "../../parts/problem.tsx";
import { useMayChange } from "../../session.ts";

const WORDS = { pause: "Pause", resume: "Go on", cancel: "Cancel" } as const;
type Action = keyof typeof WORDS;

const POSSIBLE: Readonly<Record<BulkReplayView["state"], readonly Action[]>> = {
  running: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  cancelled: [],
  done: [],
};

export function BulkReplayActions({ replay: { id, state } }: { readonly replay: BulkReplayView }) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: Action) => api.bulkReplays[action](id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["bulk-replays"] }),
  });
  if (!useMayChange()) return null;
  return (
    <>
      <Group gap="xs">
        {POSSIBLE[state].map((action) => (
          <Button
            key={action}
            size="compact-sm"
            variant="default"
            disabled={act.isPending}
            onClick={() => act.mutate(action)}
          >
            {WORDS[action]}
          </Button>
        ))}
      </Group>
      {act.isError && <Problem error={act.error} title="It could not be done" />}
    </>
  );
}
