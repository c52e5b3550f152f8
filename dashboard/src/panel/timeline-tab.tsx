import { useQuery } from "@tanstack/react-query";
import { type CallbackView, type EventHistoryView, isVerified } from "oncehook/admin-client";
import { api } from "../client.ts";
import { PageLink } from "../parts/page-link.tsx";
import type { TimelineEntry } from "../views.ts";
import { changesBetween } from "./delivery-changes.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { NotificationActions } from "./notification-actions.tsx";
import { Timeline } from "./timeline.tsx";

interface Props {
  readonly callback: CallbackView | undefined;
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Undefined for a callback without an event. */
  readonly history: EventHistoryView | undefined;
  readonly more: (() => void) | undefined;
}

/** Every delivery and attempt of the event, and what its handler queued. */
export function TimelineTab({ callback, entries, history, more }: Props) {
  if (history === undefined) return <WithoutEvent callback={callback} />;
  const deliveries = [...new Set(entries.flatMap((entry) => ("callback_id" in entry ? [entry.callback_id] : [])))];
  const [first, ...later] = deliveries.filter((id) => id !== null);
  return (
    <>
      {entries.length === 0 && <p className="quiet">The log holds nothing of this event any more.</p>}
      <Timeline
        entries={entries}
        more={more}
        changes={(id) => (first !== undefined && later.includes(id) ? <Changes first={first} id={id} /> : null)}
      />
      {history.notifications.map((notification) => (
        <section key={notification.id}>
          <h3>Notification {notification.topic}</h3>
          <DeliveryList deliveries={notification.deliveries} />
          <NotificationActions notification={notification} />
        </section>
      ))}
    </>
  );
}

/** Of a callback that was refused, or whose handlers or events have entries of their own. */
function WithoutEvent({ callback }: Pick<Props, "callback">) {
  if (callback === undefined || !isVerified(callback.outcome))
    return <p className="quiet">This callback carried no authentic event, so that nothing followed it.</p>;
  return (
    <p>
      Each handler of its event, or each event that it brought, has an entry of its own.{" "}
      <PageLink to="/activity" search={{ q: callback.request_id }} underline="hover">
        View them in Activity
      </PageLink>
    </p>
  );
}

/** The fields of a later delivery that differ from the first one. */
function Changes({ first, id }: { readonly first: number; readonly id: number }) {
  const before = useQuery({ queryKey: ["callback", first], queryFn: () => api.callbacks.get(first) });
  const now = useQuery({ queryKey: ["callback", id], queryFn: () => api.callbacks.get(id) });
  if (before.data === undefined || now.data === undefined) return null;
  const changes = changesBetween(before.data, now.data);
  if (changes.length === 0) return <p className="quiet">The same body and headers as the first delivery.</p>;
  return (
    <ul className="changes" aria-label="Changed since the first delivery">
      {changes.map((change) => (
        <li key={change.field}>
          <code>{change.field}</code> {change.first !== undefined && <del>{change.first}</del>}{" "}
          {change.now !== undefined && <ins>{change.now}</ins>}
        </li>
      ))}
    </ul>
  );
}
