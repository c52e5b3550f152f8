import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BulkReplayView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useMayChange } from "../../session.ts";
import { filterInWords } from "./filter-in-words.ts";

const WORDS = { pause: "Pause", resume: "Go on", cancel: "Cancel" } as const;
type Action = keyof typeof WORDS;

const POSSIBLE: Readonly<Record<BulkReplayView["state"], readonly Action[]>> = {
  running: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  cancelled: [],
  done: [],
};

export function BulkReplayActions({ replay }: { readonly replay: BulkReplayView }) {
  const { id, state, filter, begun_at, done, total } = replay;
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
  const named = `${filterInWords(filter)}, begun ${new Date(begun_at).toLocaleString()}`;
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
        {done} of {total} are done and stay so; the others stay failures. It cannot be gone on with: only a
        new one replays them.
      </Confirm>
    </>
  );
}
