import type { NotificationView } from "oncehook/admin-client";
import { isFailing, reasonOf } from "../parts/failing-delivery.ts";

/** The notifications of an event that one channel did not take. */
export interface Undelivered {
  readonly channel: string;
  readonly count: number;
  readonly reason: string;
  /** Whether one of them has no automatic attempt left. */
  readonly isFinal: boolean;
}

/** By channel, those whose delivery has failed. One that was not tried yet is no news. */
export function undelivered(notifications: readonly Pick<NotificationView, "deliveries">[]): readonly Undelivered[] {
  const failed = notifications.flatMap(({ deliveries }) => deliveries).filter(isFailing);
  return [...Map.groupBy(failed, ({ channel }) => channel)].map(([channel, ofChannel]) => {
    const error = ofChannel.findLast((one) => one.error !== null)?.error ?? "unknown reason";
    const [reason = ""] = error.split("\n", 1);
    const isFinal = ofChannel.some(({ state }) => state === "dead");
    return { channel, count: ofChannel.length, reason: reasonOf(reason).replace(/\.$/, ""), isFinal };
  });
}

export function undeliveredText({ channel, count, reason, isFinal }: Undelivered): string {
  const what = count === 1 ? "Notification" : `${count} notifications`;
  return `${what} not delivered to ${channel}${isFinal ? "" : " yet"}: ${reason}`;
}
