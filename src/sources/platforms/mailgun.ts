import { isJsonObject } from "../../domain/index.ts";
import { secretPreset } from "../presets/secret-preset.ts";
import { type BodyHmac, bodyHmacScheme, signBodyHmac } from "../schemes/body-hmac.ts";
import { formatTimestamp } from "../schemes/timestamp.ts";

const SCHEME: BodyHmac = {
  // A webhook is JSON. A route forwards a mail as a form, and as a multipart one where it has attachments.
  body: {
    byContentType: { "multipart/form-data": "multipart", "application/x-www-form-urlencoded": "form", "*": "json" },
  },
  at: "signature",
  signed: [
    { name: "timestamp", shape: /^\d{10}$/, expected: "ten digits, seconds since the epoch" },
    // Random, 50 characters long; it is the event's id.
    { name: "token", shape: /^[\x21-\x7e]{16,128}$/, expected: "16 to 128 characters" },
  ],
  // By the account's own key, and for a subaccount by the primary account's.
  signatures: ["signature", "parent-signature"],
};

/**
 * Mailgun: the key is the webhook signing key. The event itself is not signed: fetch it again before you act on it. The
 * token is the event's id, so that none is accepted twice. A mail that a route forwards is a form, with files where it
 * has attachments. The signature's fields are among its fields, and its type is `inbound`. For a subaccount the primary
 * account's key verifies too. Only 200 is success; 406 ends the retries, and takes the place of every 400. Source:
 * mailgun-php `src/Api/Webhook.php`, whose vector is the proof; Mailgun, "Securing webhooks", "Automatic retries" and
 * "Receiving messages via HTTP" (25 MB).
 */
export const mailgun = secretPreset("mailgun", {
  docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
  proof: "verifies",
  retryHours: 8,
  maxBodyBytes: 25_000_000,
  signs: "HMAC-SHA256 over `timestamp` and `token`, in the body",
  body: SCHEME.body,
  id: ["body.signature.token", "body.token"],
  type: ["body.event-data.event", "body.event", "=inbound"],
  eventTime: { at: "body.event-data.timestamp", unit: "seconds", isSigned: false },
  data: ["body.event-data", "body"],
  responses: { statuses: { 400: 406 } },
  credential: { fields: ["signature"] },
  signBody(body, secret, now) {
    const token = isJsonObject(body.signature) ? body.signature.token : undefined;
    const signature = { timestamp: formatTimestamp(now, "seconds"), ...(token !== undefined && { token }) };
    return signBodyHmac(SCHEME, { ...body, signature }, secret);
  },
  scheme: bodyHmacScheme(SCHEME),
});
