import { type GitHubReconcileOptions, githubDeliveries } from "../reconcile/github-deliveries.ts";
import { hmacPreset, type PresetOptions } from "./preset.ts";

export interface GitHubOptions extends PresetOptions {
  /** Finds the events that never arrived: docs/reconcile.md. */
  readonly reconcile?: GitHubReconcileOptions;
}

/**
 * GitHub: `X-Hub-Signature-256: sha256=…`, HMAC-SHA256 over the body. Neither the delivery's id nor the event's name is
 * signed, so the signed bytes are a second key. Source: @octokit/webhooks-methods; GitHub Docs, "Validating webhook
 * deliveries" and "Webhook events and payloads" (25 MB). It does not deliver a failed one again by itself.
 */
export const github = hmacPreset<GitHubOptions>({
  preset: "github",
  facts: {
    title: "GitHub",
    docs: "https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries",
    proof: "signs",
    deadlineSeconds: 10,
    retryHours: 0,
    maxBodyBytes: 25_000_000,
  },
  scheme: {
    signature: { header: "X-Hub-Signature-256", encoding: "hex", prefix: "sha256=" },
    signed: "{body}",
  },
  contract: {
    id: "header.X-GitHub-Delivery",
    type: "header.X-GitHub-Event",
    headers: ["X-GitHub-Event", "X-GitHub-Hook-ID"],
  },
  reconcile: githubDeliveries,
  sample: (type, id) => ({
    headers: {
      "User-Agent": "GitHub-Hookshot/sample",
      "X-GitHub-Delivery": id,
      "X-GitHub-Event": type,
      "X-GitHub-Hook-ID": "1",
    },
    // The delivery's id is not signed: without a difference in the bytes another one would be a duplicate.
    body: {
      action: "created",
      repository: { id: 1, name: "sample", full_name: "octocat/sample", private: false },
      sender: { id: 1, login: "octocat", type: "User" },
      sample: id,
    },
  }),
});
