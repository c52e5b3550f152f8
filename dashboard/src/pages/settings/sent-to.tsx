import type { ListedAlertView } from "oncehook/admin-client";
import { isFailing, reasonOf } from "../../parts/failing-delivery.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";

type Notification = NonNullable<ListedAlertView["notification"]>;
export type AlertDelivery = Notification["deliveries"][number];

/** The channels that got the last notification of an alert, and those that did not, with the reason. */
export function SentTo({ notification }: Pick<ListedAlertView, "notification">) {
  if (notification === null) return <span className="quiet">Nothing sent</span>;
  const { deliveries, created_at } = notification;
  if (deliveries.length === 0) return <span className="quiet">Not sent yet</span>;
  return (
    <ul className="sent-to">
      {deliveries.map((delivery) => (
        <li key={delivery.channel}>
          <Delivery delivery={delivery} at={created_at} />
        </li>
      ))}
    </ul>
  );
}

/** The log takes whatever it gets, and pages no operator. */
function Delivery({ delivery, at }: { readonly delivery: AlertDelivery; readonly at: string }) {
  const { channel, state, error, delivered_at, next_attempt_at } = delivery;
  if (channel === "log") return <span className="quiet">Only the log</span>;
  if (state === "delivered")
    return (
      <span className="outcome" data-tone="success" title={delivered_at ?? at}>
        {channel}, delivered
      </span>
    );
  if (!isFailing(delivery))
    return (
      <span className="outcome" data-tone="quiet">
        {channel}, waiting
      </span>
    );
  return (
    <>
      <PageLink
        to="/problems"
        search={{ kind: "delivery", source: channel }}
        underline="hover"
        className="outcome"
        data-tone="failed"
      >
        {channel}, {state === "dead" ? "not delivered" : "not delivered yet"}
      </PageLink>
      {error !== null && <span className="quiet reason">{reasonOf(error)}</span>}
      {state === "waiting" && (
        <span className="quiet reason">
          Next attempt <Time at={next_attempt_at} />
        </span>
      )}
    </>
  );
}
