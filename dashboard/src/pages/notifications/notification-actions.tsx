import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { NotificationView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/page-states.tsx";
import { useMayChange } from "../../session.ts";

interface Props {
  readonly notification: NotificationView;
  /** Told of what came of it: a filter may take the notification off the list at once. */
  readonly onDone: (says: string) => void;
}

export function NotificationActions({ notification, onDone }: Props) {
  const { id, topic, event_id, deliveries } = notification;
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure();
  const refresh = () => queries.invalidateQueries({ queryKey: ["notifications"] });
  const replay = useMutation({
    mutationFn: () => api.notifications.replay(id),
    onSuccess: ({ deliveries: due, not_configured }) =>
      onDone(`${topic} of ${event_id}: ${countOf(due)} due now.${unconfiguredText(not_configured)}`),
    onSettled: refresh,
  });
  const discard = useMutation({
    mutationFn: () => api.notifications.discard(id),
    onSuccess: ({ deliveries: gone }) => onDone(`${topic} of ${event_id}: ${countOf(gone)} discarded.`),
    onSettled: () => {
      asking.close();
      return refresh();
    },
  });
  const mayChange = useMayChange();
  const hasFailed = deliveries.some(({ state }) => state === "dead");
  const isOpen = deliveries.some(({ state }) => state !== "delivered");
  if (!mayChange || !isOpen) return null;
  const named = `${topic} of ${event_id}`;
  return (
    <>
      <Group gap="xs">
        {hasFailed && (
          <Button
            size="compact-sm"
            loading={replay.isPending}
            onClick={() => replay.mutate()}
            aria-label={`Deliver again: ${named}`}
          >
            Deliver again
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={asking.open} aria-label={`Discard: ${named}`}>
          Discard
        </Button>
      </Group>
      {(replay.isError || discard.isError) && (
        <Problem error={replay.error ?? discard.error} title="It could not be done" />
      )}
      <Confirm
        title="Discard its deliveries?"
        action="Discard them"
        isOpen={isAsking}
        isBusy={discard.isPending}
        onConfirm={() => discard.mutate()}
        onClose={asking.close}
      >
        What waits or is dead of {topic} is not delivered any more. It cannot be undone.
      </Confirm>
    </>
  );
}

function countOf(deliveries: number): string {
  return deliveries === 1 ? "1 delivery is" : `${deliveries} deliveries are`;
}

function unconfiguredText(channels: readonly string[]): string {
  if (channels.length === 0) return "";
  return ` Not configured any more, so still dead: ${channels.join(", ")}. Configure them again, or discard them.`;
}
