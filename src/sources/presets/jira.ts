import { hmacPreset } from "./preset.ts";

/**
 * Jira Cloud's webhooks with a secret (admin webhooks): `X-Hub-Signature: sha256=…`, HMAC-SHA256 over the body; those of
 * Connect and OAuth apps have none and are refused. `X-Atlassian-Webhook-Identifier` is not signed and stays on a retry.
 * Jira retries up to five times after 408, 409, 425, 429, 5xx or a timeout.
 * Source: Atlassian, "Webhooks" (Secure admin webhooks; Retry policy).
 */
export const jira = hmacPreset({
  preset: "jira",
  facts: {
    title: "Jira Cloud",
    docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
    proof: "documented",
  },
  scheme: {
    signature: { header: "X-Hub-Signature", encoding: "hex", prefix: "sha256=" },
    signed: "{body}",
  },
  contract: {
    id: "header.X-Atlassian-Webhook-Identifier",
    type: "body.webhookEvent",
    eventTime: { at: "body.timestamp", unit: "milliseconds" },
    headers: ["X-Atlassian-Webhook-Flow", "X-Atlassian-Webhook-Retry"],
  },
});
