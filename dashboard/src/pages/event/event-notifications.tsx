import { Text } from "@mantine/core";
import type { NotificationView } from "oncehook/admin-client";
import { DeliveryList } from "../notifications/delivery-list.tsx";

/** What was written in the handler's transaction to be told elsewhere. */
export function EventNotifications({
  notifications,
}: {
  readonly notifications: readonly NotificationView[];
}) {
  return (
    <section aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      {notifications.length === 0 && <Text c="dimmed">Its handler queued none.</Text>}
      {notifications.map((notification) => (
        <div key={notification.id}>
          <Text fw={600}>{notification.topic}</Text>
          <DeliveryList deliveries={notification.deliveries} />
        </div>
      ))}
    </section>
  );
}
