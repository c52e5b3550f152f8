import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { NotificationView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useMayChange } from "../../session.ts";

export function NotificationActions({ notification }: { readonly notification: NotificationView }) {
  const { id, topic, deliveries } = notification;
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure();
  const refresh = () => queries.invalidateQueries({ queryKey: ["notifications"] });
  const replay = useMutation({ mutationFn: () => api.notifications.replay(id), onSettled: refresh });
  const discard = useMutation({
    mutationFn: () => api.notifications.discard(id),
    onSettled: () => {
      asking.close();
      return refresh();
    },
  });
  const mayChange = useMayChange();
  const isDead = deliveries.some(({ state }) => state === "dead");
  const isOpen = deliveries.some(({ state }) => state !== "delivered");
  if (!mayChange || !isOpen) return null;
  return (
    <>
      <Group gap="xs">
        {isDead && (
          <Button size="compact-sm" loading={replay.isPending} onClick={() => replay.mutate()}>
            Deliver again
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={asking.open}>
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
