import { Button, Group } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { NotificationView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../client.ts";
import { DiscardButton } from "../parts/discard-button.tsx";
import { Problem } from "../parts/page-states.tsx";
import { useMayChange } from "../session.ts";

/** Delivers a notification again, or gives it up; then what came of it. */
export function NotificationActions({ notification }: { readonly notification: NotificationView }) {
  const { id, source, topic, event_id, deliveries } = notification;
  const queries = useQueryClient();
  const [message, setMessage] = useState<string>();
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["event", source, event_id] }),
      queries.invalidateQueries({ queryKey: ["problems"] }),
    ]);
  const replay = useMutation({
    mutationFn: () => api.notifications.replay(id),
    onSuccess: ({ deliveries: due, not_configured }) =>
      setMessage(`${countOf(due)} due now.${unconfiguredText(not_configured)}`),
    onSettled: refresh,
  });
  const discard = useMutation({
    mutationFn: () => api.notifications.discard(id),
    onSuccess: ({ deliveries: gone }) => setMessage(`${countOf(gone)} discarded.`),
    onSettled: refresh,
  });
  const mayChange = useMayChange();
  const hasFailed = deliveries.some(({ state }) => state === "dead");
  const isOpen = deliveries.some(({ state }) => state !== "delivered");
  const name = `${topic} of ${event_id}`;
  return (
    <>
      {mayChange && isOpen && (
        <Group gap="xs">
          {hasFailed && (
            <Button
              size="compact-sm"
              variant="default"
              loading={replay.isPending}
              onClick={() => replay.mutate()}
              aria-label={`Deliver again: ${name}`}
            >
              Deliver again
            </Button>
          )}
          <DiscardButton
            name={name}
            question="Discard its deliveries?"
            action="Discard them"
            isBusy={discard.isPending}
            discard={() => discard.mutateAsync().catch(() => {})}
          >
            What waits or has failed of {topic} is not delivered any more. It cannot be undone.
          </DiscardButton>
        </Group>
      )}
      {(replay.isError || discard.isError) && (
        <Problem error={replay.error ?? discard.error} title="It could not be done" />
      )}
      <p role="status">{message}</p>
    </>
  );
}

function countOf(deliveries: number): string {
  return deliveries === 1 ? "1 delivery is" : `${deliveries} deliveries are`;
}

function unconfiguredText(channels: readonly string[]): string {
  if (channels.length === 0) return "";
  return ` Not configured any more, so still failed: ${channels.join(", ")}. Configure them again, or discard them.`;
}
