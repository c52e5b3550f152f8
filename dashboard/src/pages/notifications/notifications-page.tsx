import { Alert, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { NotificationView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { openOf } from "../../panel/opened.ts";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { notificationSearch } from "../../search.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { NotificationActions } from "./notification-actions.tsx";

const route = getRouteApi("/inside/notifications");
const EVERY_MS = 10_000;
const FILTER_FIELDS: readonly FilterField[] = [
  { name: "state", label: "Delivery state", options: ["waiting", "delivered", "dead"] },
];

const COLUMNS: readonly Column<NotificationView>[] = [
  { head: "Time", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    head: "Notification",
    cell: ({ topic, source, event_id, idempotency_key }) => (
      <>
        {topic} of{" "}
        <PageLink to="/activity" search={{ open: openOf({ source, event_id }) }}>
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
  const [message, setMessage] = useState<string>();
  const list = useInfiniteList(
    ["notifications", filters],
    (cursor) => api.notifications.list({ ...filters, ...cursor }),
    EVERY_MS,
  );
  const rows = itemsOf(list);
  const actions: Column<NotificationView> = {
    head: "Actions",
    cell: (notification) => <NotificationActions notification={notification} onDone={setMessage} />,
  };
  return (
    <>
      <PageTitle title="Notifications" description="Outbound messages that handlers queued, and their deliveries." />
      <FilterForm
        fields={FILTER_FIELDS}
        filters={filters}
        apply={(next) => void navigate({ search: notificationSearch(next) })}
      />
      <div role="status">{message !== undefined && <Alert color="blue">{message}</Alert>}</div>
      {list.isPending && <Loading what="the notifications" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem error={list.error} title="The notifications could not be read" again={() => void list.refetch()} />
      )}
      {list.isSuccess && rows.length === 0 && !list.hasNextPage && (
        <EmptyState>
          No notification fits. Handlers queue them with notify, and payment_notify does so by itself.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Rows caption="Notifications" columns={[...COLUMNS, actions]} rows={rows} keyOf={({ id }) => id} />
      )}
      <InfiniteListEnd list={list} />
    </>
  );
}
