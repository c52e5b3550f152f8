import { isJsonObject } from "../../domain/index.ts";
import type { Readable } from "../contract/reading.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Jira Cloud's webhooks with a secret (admin webhooks); those of Connect and OAuth apps have none and are refused. Jira
 * retries up to five times after 408, 409, 425, 429, 5xx or a timeout. The post function of a workflow sends a
 * `transition` without `webhookEvent`. With *Exclude body* the body is empty, and the query, which the address has
 * variables for, is the event. An empty body has one signature for all. Source: Atlassian, "Webhooks" (Secure admin
 * webhooks; Retry policy; Adding a webhook as a post function; Variables).
 */
export const jira = hmacPreset("jira", {
  title: "Jira Cloud",
  docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
  identity: { why: "`X-Atlassian-Webhook-Identifier` is unique within a site and unchanged across retries" },
  unsigned: "the query, which is the event where the body is excluded",
  signature: { header: "X-Hub-Signature", encoding: "hex", prefix: "sha256=" },
  emptyBody: "query",
  id: "header.X-Atlassian-Webhook-Identifier",
  type: ["body.webhookEvent", transition, "=callback"],
  eventTime: { at: "body.timestamp", unit: "milliseconds" },
  headers: ["X-Atlassian-Webhook-Flow", "X-Atlassian-Webhook-Retry"],
});

function transition({ body }: Readable): string | undefined {
  return isJsonObject(body) && isJsonObject(body.transition) ? "transition" : undefined;
}
