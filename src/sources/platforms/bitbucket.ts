import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Bitbucket Cloud: a webhook without a secret is not signed. A retry is taken to keep its `X-Request-UUID`, as
 * `X-Attempt-Number` counts. A branch that is made again may have equal bytes. Source: Atlassian, "Manage webhooks",
 * "Event payloads" (HTTP headers), "Troubleshoot webhooks" (retries).
 */
export const bitbucket = hmacPreset("bitbucket", {
  title: "Bitbucket Cloud",
  docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
  identity: {
    why: "\"Bitbucket automatically resends the request\": `X-Request-UUID` is the request's, and `X-Attempt-Number` the attempt's",
    source: "https://support.atlassian.com/bitbucket-cloud/docs/troubleshoot-webhooks/",
  },
  signature: { header: "X-Hub-Signature", encoding: "hex", prefix: "sha256=" },
  id: "header.X-Request-UUID",
  type: "header.X-Event-Key",
  bytesScope: "header.X-Event-Key",
  headers: ["X-Hook-UUID", "X-Attempt-Number"],
});
