import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BulkReplayView } from "oncehook/admin-client";
import type { ReactNode } from "react";
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

interface Props {
  /** Such as `bulk replay`; the question names it. */
  readonly what: string;
  readonly id: number;
  readonly state: BulkReplayView["state"];
  readonly api: Readonly<Record<Action, (id: number) => Promise<unknown>>>;
  readonly queryKey: string;
  /** The state in which a cancelled one leaves its events. */
  readonly children: ReactNode;
}

/** Pauses, resumes or ends long work, such as a bulk replay. */
export function WorkActions({ what, id, state, api, queryKey, children }: Props) {
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure();
  const act = useMutation({
    mutationFn: (action: Action) => api[action](id),
    onSettled: () => {
      asking.close();
      return queries.invalidateQueries({ queryKey: [queryKey] });
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
        title={`Cancel this ${what}?`}
        action="Cancel it"
        isOpen={isAsking}
        isBusy={act.isPending}
        onConfirm={() => act.mutate("cancel")}
        onClose={asking.close}
      >
        {children}
      </Confirm>
    </>
  );
}
