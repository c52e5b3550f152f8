import { hmacPreset } from "../../presets/hmac-preset.ts";
import type { PresetOptions } from "../../presets/secrets.ts";
import { type GitHubReconcileOptions, githubDeliveries } from "./github-deliveries.ts";

export interface GitHubOptions extends PresetOptions {
  /** Finds the events that never arrived: docs/reconcile.md. */
  readonly reconcile?: GitHubReconcileOptions;
}

/**
 * GitHub does not deliver a failed callback again by itself. Source: @octokit/webhooks-methods; GitHub Docs,
 * "Validating webhook deliveries" and "Webhook events and payloads" (25 MB).
 */
export const github = hmacPreset<GitHubOptions>("github", {
  title: "GitHub",
  docs: "https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries",
  proof: "signs",
  identity: {
    why: "a redelivery has the `X-GitHub-Delivery` of the original delivery",
    source: "https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks",
  },
  deadlineSeconds: 10,
  retryHours: 0,
  maxBodyBytes: 25_000_000,
  signature: { header: "X-Hub-Signature-256", encoding: "hex", prefix: "sha256=" },
  // A webhook's default content type is a form whose `payload` is the JSON.
  body: { form: "payload", orJson: true },
  id: "header.X-GitHub-Delivery",
  type: "header.X-GitHub-Event",
  headers: ["X-GitHub-Event", "X-GitHub-Hook-ID"],
  reconcile: githubDeliveries,
});
