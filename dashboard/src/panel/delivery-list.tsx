import type { NotificationView } from "oncehook/admin-client";
import { OutcomeBadge } from "../parts/outcome-badge.tsx";
import { TextBlock } from "../parts/text-block.tsx";
import { Time } from "../parts/time.tsx";

/** How far the deliveries of a notification are, channel by channel. */
export function DeliveryList({ deliveries }: Pick<NotificationView, "deliveries">) {
  if (deliveries.length === 0) return <>Not handed to the channels yet</>;
  return (
    <ul className="plain-list">
      {deliveries.map(({ channel, state, attempts, error, next_attempt_at, delivered_at }) => (
        <li key={channel}>
          {channel} <OutcomeBadge outcome={state === "dead" ? "failed" : state} />{" "}
          {delivered_at === null ? (
            <>
              after {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
              {next_attempt_at !== null && ", next "}
              {next_attempt_at !== null && <Time at={next_attempt_at} relative isAhead />}
            </>
          ) : (
            <Time at={delivered_at} />
          )}
          {error !== null && <DeliveryError error={error} />}
        </li>
      ))}
    </ul>
  );
}

/** Its first line; the stack only when it is asked for. */
function DeliveryError({ error }: { readonly error: string }) {
  const [line = ""] = error.split("\n", 1);
  if (line === error) return <div>{line}</div>;
  return (
    <details>
      <summary>{line}</summary>
      <TextBlock label="The error with its stack" text={error} />
    </details>
  );
}
