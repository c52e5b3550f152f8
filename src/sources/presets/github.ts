import type { JsonObject } from "../../domain/index.ts";
import { type GitHubReconcileOptions, githubDeliveries } from "../reconcile/github-deliveries.ts";
import { hmacPreset, type PresetOptions } from "./preset.ts";

export interface GitHubOptions extends PresetOptions {
  /** Finds the events that never arrived: docs/reconcile.md. */
  readonly reconcile?: GitHubReconcileOptions;
}

const BEFORE = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const AFTER = "76ae82c7b1a177c8d03f9e96e0adf24661137281";
const USER = { id: 1, login: "octocat", type: "User" };
const TIME = "2026-01-01T00:00:00Z";
const NUMBERED = {
  id: 1,
  number: 1,
  state: "open",
  user: USER,
  created_at: TIME,
  updated_at: TIME,
  body: null,
};
const PUSHED_BY = { name: "octocat", email: "octocat@github.com" };
const COMMIT = { id: AFTER, message: "Change the sample", timestamp: TIME, url: "", distinct: true };
const COMMITS = [
  { ...COMMIT, author: PUSHED_BY, committer: PUSHED_BY, added: [], removed: [], modified: ["README.md"] },
];

/** The fields that GitHub Docs, "Webhook events and payloads", has for these events; others have an action alone. */
const SAMPLES: Readonly<Record<string, JsonObject>> = {
  push: {
    ...{ ref: "refs/heads/main", before: BEFORE, after: AFTER, base_ref: null, compare: "" },
    ...{ created: false, deleted: false, forced: false, pusher: PUSHED_BY },
    ...{ commits: COMMITS, head_commit: COMMITS[0] as JsonObject },
  },
  pull_request: {
    action: "opened",
    number: 1,
    pull_request: {
      ...NUMBERED,
      ...{ title: "A sample", draft: false, merged: false, merged_at: null },
      head: { ref: "sample", sha: AFTER, label: "octocat:sample" },
      base: { ref: "main", sha: BEFORE, label: "octocat:main" },
    },
  },
  issues: {
    action: "opened",
    issue: { ...NUMBERED, title: "A sample", labels: [], assignees: [], comments: 0 },
  },
};

/**
 * GitHub: `X-Hub-Signature-256: sha256=…`, HMAC-SHA256 over the body. Neither the delivery's id nor the event's name is
 * signed. Source: @octokit/webhooks-methods; GitHub Docs, "Validating webhook
 * deliveries" and "Webhook events and payloads" (25 MB). It does not deliver a failed one again by itself.
 */
export const github = hmacPreset<GitHubOptions>({
  preset: "github",
  facts: {
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
  },
  scheme: {
    signature: { header: "X-Hub-Signature-256", encoding: "hex", prefix: "sha256=" },
    signed: "{body}",
  },
  contract: {
    // A webhook's default content type is a form whose `payload` is the JSON.
    body: { form: "payload", orJson: true },
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
    body: {
      ...(SAMPLES[type] ?? { action: "created" }),
      repository: { id: 1, name: "sample", full_name: "octocat/sample", private: false },
      sender: { id: 1, login: "octocat", type: "User" },
    },
  }),
});
