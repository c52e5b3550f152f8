import { basicPreset } from "../presets/token-preset.ts";

/**
 * Postmark: basic authentication, which you put into the webhook's address or its settings. A bounce and a spam
 * complaint have an id; any other has the body's hash. The webhook of inbound mail has no `RecordType`. Only a response
 * with 200 counts, and 403 ends the retries. Inbound mail has ten within 10.5 hours. Source: Postmark, "Webhooks
 * overview", "Understanding inbound webhook retries" and "What are the Attachment and Email Size Limits?".
 */
export const postmark = basicPreset("postmark", {
  docs: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
  retryHours: 10.5,
  // 35 MB of attachments, in base64.
  maxBodyBytes: 50_000_000,
  id: ["{body.RecordType}.{body.ID}", "sha256"],
  type: ["body.RecordType", "=Inbound"],
});
