import { Alert, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { NotificationView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { EndlessEnd, itemsOf, useEndless } from "../../parts/endless.tsx";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Nothing } from "../../parts/nothing.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { notificationSearch } from "../../search.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { NotificationActions } from "./notification-actions.tsx";

const route = getRouteApi("/inside/notifications");
const EVERY_MS = 10_000;
const FIELDS: readonly FilterField[] = [
  { name: "state", label: "With a delivery that is", options: ["waiting", "delivered", "dead"] },
];

const COLUMNS: readonly Column<NotificationView>[] = [
  { head: "Time", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    head: "Notification",
    cell: ({ topic, source, event_id, idempotency_key }) => (
      <>
        {topic} of{" "}
        <PageLink to="/events/$source/$event_id" params={{ source, event_id }}>
          {event_id}
        </PageLink>
        <Text size="sm" c="dimmed">
          {idempotency_key}
        </Text>
      </>
    ),
  },
  { head: "Deliveries", cell: ({ deliveries }) => <DeliveryList deliveries={deliveries} /> },
];

export function NotificationsPage() {
  const filters = notificationSearch(route.useSearch());
  const navigate = route.useNavigate();
  const [said, setSaid] = useState<string>();
  const list = useEndless(
    ["notifications", filters],
    (cursor) => api.notifications.list({ ...filters, ...cursor }),
    EVERY_MS,
  );
  const rows = itemsOf(list);
  const actions: Column<NotificationView> = {
    head: "Actions",
    cell: (notification) => <NotificationActions notification={notification} onEnd={setSaid} />,
  };
  return (
    <>
      <PageTitle
        title="Notifications"
        says="What handlers queued to be told elsewhere, and whether it has been delivered."
      />
      <FilterForm
        fields={FIELDS}
        filters={filters}
        apply={(next) => void navigate({ search: notificationSearch(next) })}
      />
      <div role="status">{said !== undefined && <Alert color="blue">{said}</Alert>}</div>
      {list.isPending && <Loading what="the notifications" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem
          error={list.error}
          title="The notifications could not be read"
          again={() => void list.refetch()}
        />
      )}
      {list.isSuccess && rows.length === 0 && !list.hasNextPage && (
        <Nothing>
          No notification fits. Handlers queue them with notify, and payment_notify does so by itself.
        </Nothing>
      )}
      {rows.length > 0 && (
        <Rows caption="Notifications" columns={[...COLUMNS, actions]} rows={rows} keyOf={({ id }) => id} />
      )}
      <EndlessEnd list={list} />
    </>
  );
}
