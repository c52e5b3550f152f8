import { standardId, standardScheme } from "../presets/standard.ts";
import { tokenOrSignaturePreset } from "../presets/token-preset.ts";

/**
 * GitLab: `X-Gitlab-Token`, a fixed text that signs nothing (the default), or `verify: "signature"`: Standard Webhooks
 * with a signing token (`whsec_…`), whose `webhook-id` is the `Idempotency-Key`. Source:
 * https://docs.gitlab.com/user/project/integrations/webhooks/; merge requests gitlab-org/gitlab!230944, which names the
 * specification, and !231325. The proof is the library of that specification.
 */
export const gitlab = tokenOrSignaturePreset("gitlab", {
  title: "GitLab",
  docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  proof: "community",
  identity: { why: "`Idempotency-Key` stays the same over retries; without it (before 17.4) the bytes are the key" },
  deadlineSeconds: 10,
  // gitlab-org/gitlab!38687: it sends no longer one.
  maxBodyBytes: 25_000_000,
  disables: "4 failures in a row disable it for a while, 40 for good; responses of 4xx count",
  type: ["body.object_kind", "body.event_name"],
  headers: ["X-Gitlab-Event", "X-Gitlab-Instance", "X-Gitlab-Webhook-UUID"],
  usual: "token",
  token: { header: "X-Gitlab-Token", id: ["header.Idempotency-Key", "sha256"], isIdSigned: false },
  ...standardScheme(),
  ...standardId(),
});
