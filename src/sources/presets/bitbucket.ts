import { hmacPreset } from "./preset.ts";

/**
 * Bitbucket Cloud: `X-Hub-Signature: sha256=…`, HMAC-SHA256 over the body; a webhook without a secret is not signed. The
 * id (`X-Request-UUID`) and the type (`X-Event-Key`) stand in headers that are not signed. Several types may have one
 * body. `X-Attempt-Number` counts the retries.
 * Source: Atlassian, "Manage webhooks" (secrets) and "Event payloads" (HTTP headers).
 */
export const bitbucket = hmacPreset({
  preset: "bitbucket",
  facts: {
    title: "Bitbucket Cloud",
    docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
    proof: "documented",
    identity: {
      why: "`X-Request-UUID` is the id of the request, beside `X-Attempt-Number`; of the attempt it would cost a second run",
    },
  },
  scheme: {
    signature: { header: "X-Hub-Signature", encoding: "hex", prefix: "sha256=" },
    signed: "{body}",
  },
  contract: {
    id: "header.X-Request-UUID",
    type: "header.X-Event-Key",
    bytesScope: "header.X-Event-Key",
    headers: ["X-Hook-UUID", "X-Attempt-Number"],
  },
});
