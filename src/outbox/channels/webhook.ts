import { Webhook } from "standardwebhooks";
import type { Agent } from "undici";
import type { AllowedAddresses } from "../allowed-addresses.ts";
import { type Channel, DeliveryPostponedError, messageId, PermanentDeliveryError } from "../channel.ts";

export interface WebhookOptions {
  readonly url: string;
  /** `whsec_` and base64, as Standard Webhooks writes it. */
  readonly secret: string;
  readonly addresses: AllowedAddresses;
  /** Certificates, in PEM, that may sign the receiver's; the system's by default. */
  readonly ca?: readonly string[];
}

export const WEBHOOK_DESTINATION = "webhook";

const TIME_LIMIT_MS = 20_000;
const HEADERS_LIMIT_MS = 15_000;
const BODY_LIMIT_MS = 2_000;
const MAX_ANSWER_BYTES = 65_536;
const GONE = 410;

/** A signed POST as Standard Webhooks describes it. Redirects are not followed: a 3xx is a failure. */
export function webhookChannel({ url, secret, addresses, ca }: WebhookOptions): Channel {
  const signer = new Webhook(secret);
  const { hostname } = new URL(url);
  let agent: Agent | undefined;
  return {
    name: WEBHOOK_DESTINATION,
    destinations: [WEBHOOK_DESTINATION],
    timeLimitMs: TIME_LIMIT_MS,
    async deliver(notification, signal, _destination, traceHeaders) {
      addresses.assertHost(hostname);
      const id = messageId(notification);
      const { topic, payload, createdAt } = notification;
      const body = JSON.stringify({ type: topic, timestamp: createdAt, data: payload });
      const now = new Date();
      // Loaded with the first delivery: at the start it would double the time until the process serves.
      const undici = await import("undici");
      agent ??= new undici.Agent({
        connect: { lookup: addresses.lookup, ...(ca === undefined ? {} : { ca: [...ca] }) },
        headersTimeout: HEADERS_LIMIT_MS,
      });
      const response = await undici.request(url, {
        dispatcher: agent,
        method: "POST",
        signal,
        body,
        headers: {
          ...traceHeaders,
          "content-type": "application/json",
          "user-agent": "oncehook",
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
          "webhook-signature": signer.sign(id, now, body),
        },
      });
      // The status decides: a body that drips, breaks off or never ends changes nothing. A short one is read, so that its
      // connection can be used again.
      const read = { limit: MAX_ANSWER_BYTES, signal: AbortSignal.timeout(BODY_LIMIT_MS) };
      response.body.dump(read).catch(() => {});
      assertDelivered(response.statusCode, response.headers["retry-after"]);
    },
    // Every attempt has ended by then; nothing waits for the rest of a response.
    close: async () => agent?.destroy(),
  };
}

function assertDelivered(status: number, retryAfter: string | string[] | undefined): void {
  if (status >= 200 && status < 300) return;
  if (status === GONE) throw new PermanentDeliveryError("the receiver answered 410: it wants no more notifications");
  const message = `the receiver answered ${status}, expected 2xx${status >= 300 && status < 400 ? "; redirects are not followed" : ""}`;
  // RFC 9110 §10.2.3; the form with a date is rare, and the schedule does without it.
  if (typeof retryAfter === "string" && /^\d{1,6}$/.test(retryAfter)) {
    throw new DeliveryPostponedError(message, Number(retryAfter));
  }
  throw new Error(message);
}
