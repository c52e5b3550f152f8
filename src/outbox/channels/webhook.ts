import { Webhook } from "standardwebhooks";
import { type Channel, messageId } from "../channel.ts";
import { createHttpPost, HTTP_TIME_LIMIT_MS, type HttpTarget } from "./http-post.ts";

export interface WebhookOptions extends HttpTarget {
  /** `whsec_` and base64, as Standard Webhooks writes it. */
  readonly secret: string;
}

export const WEBHOOK_DESTINATION = "webhook";

/** A signed POST as Standard Webhooks describes it. */
export function webhookChannel({ secret, ...target }: WebhookOptions): Channel {
  const signer = new Webhook(secret);
  const { post, close } = createHttpPost(target);
  return {
    name: WEBHOOK_DESTINATION,
    destinations: [WEBHOOK_DESTINATION],
    timeLimitMs: HTTP_TIME_LIMIT_MS,
    deliver(notification, signal, _destination, traceHeaders) {
      const id = messageId(notification);
      const { topic, payload, createdAt } = notification;
      const body = JSON.stringify({ type: topic, timestamp: createdAt, data: payload });
      const now = new Date();
      const headers = {
        ...traceHeaders,
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": signer.sign(id, now, body),
      };
      return post(body, headers, signal);
    },
    close,
  };
}
