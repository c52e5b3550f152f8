import type { Log } from "../../domain/index.ts";
import type { StoredNotification } from "../../store/index.ts";
import type { Channel } from "../channel.ts";
import { messageId } from "../message-id.ts";

/** Its destination. */
export const LOG = "log";

/** Where no channel is configured: a notification is seen in the log, and nobody waits for it. */
export function logChannel(log: Log): Channel {
  function take(notification: StoredNotification): void {
    const { topic, payload, source, eventId } = notification;
    log.info({ id: messageId(notification), topic, source, event_id: eventId, payload }, "notification");
  }

  return {
    name: LOG,
    destinations: [LOG],
    atOnce: 16,
    timeLimitMs: 5_000,
    take,
    deliver: async (notification) => take(notification),
  };
}
