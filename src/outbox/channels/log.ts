import type { Log } from "../../domain/index.ts";
import type { Channel } from "../channel.ts";
import { messageId } from "../message-id.ts";

/** Its destination. */
export const LOG = "log";

/** Where no channel is configured: a notification is seen in the log, and nobody waits for it. */
export function logChannel(log: Log): Channel {
  return {
    name: LOG,
    destinations: [LOG],
    atOnce: 250,
    timeLimitMs: 5_000,
    async deliver(notification) {
      const { topic, payload, source, eventId } = notification;
      log.info({ id: messageId(notification), topic, source, event_id: eventId, payload }, "notification");
    },
  };
}
