import type { JsonValue, Log } from "../../domain/index.ts";
import type { StoredNotification } from "../../store/index.ts";
import { type Channel, messageId } from "../channel.ts";

export const LOG_DESTINATION = "log";

/**
 * Writes notifications to the log where no other channel is configured.
 * @param mask hides secrets and card numbers, which a handler may have copied from an event
 */
export function logChannel(log: Log, mask: (payload: JsonValue) => JsonValue): Channel {
  function deliverNow(notification: StoredNotification): void {
    const { topic, source, eventId } = notification;
    const payload = mask(notification.payload);
    log.info({ id: messageId(notification), topic, source, event_id: eventId, payload }, "notification");
  }

  return {
    name: LOG_DESTINATION,
    destinations: [LOG_DESTINATION],
    timeLimitMs: 5_000,
    deliverNow,
    deliver: async (notification) => deliverNow(notification),
  };
}
