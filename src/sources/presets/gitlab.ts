import type { ContractData } from "../contract/event-contract.ts";
import { createTokenScheme } from "../schemes/token.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";
import { describe } from "./describe.ts";
import { defineSource, hmacPreset, type PresetOptions, secretParts } from "./preset.ts";
import { standardId, standardScheme } from "./standard.ts";

export interface GitlabOptions extends PresetOptions {
  /**
   * What the secret is: the secret token, which GitLab sends as it is (the default), or the signing token (`whsec_…`), with
   * which it signs as Standard Webhooks. Prefer the latter: the former says nothing of the body.
   */
  readonly verify?: "token" | "signature";
}

const FACTS: PlatformFacts = {
  title: "GitLab",
  docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  proof: "documented",
  deadlineSeconds: 10,
  disables: "4 failures in a row disable it for a while, 40 for good; responses of 4xx count",
};

const CONTRACT: Omit<ContractData, "id"> = {
  type: ["body.object_kind", "body.event_name"],
  headers: ["X-Gitlab-Event", "X-Gitlab-Instance", "X-Gitlab-Webhook-UUID"],
};

const TOKEN_ID = ["header.Idempotency-Key", "sha256"];

const signing = hmacPreset({
  preset: "gitlab",
  facts: FACTS,
  scheme: standardScheme("webhook"),
  contract: { ...CONTRACT, ...standardId("webhook") },
});

/**
 * GitLab: `X-Gitlab-Token`, a fixed text that signs nothing, or Standard Webhooks with a signing token, whose
 * `webhook-id` is the `Idempotency-Key`. Source: https://docs.gitlab.com/user/project/integrations/webhooks/;
 * merge requests gitlab-org/gitlab!230944 and !231325.
 * @throws TypeError that names the option that is wrong
 */
export function gitlab(options: GitlabOptions): SourceDefinition {
  const { verify = "token" } = options;
  if (verify === "signature") return signing(options);
  if (verify !== "token") {
    const got = JSON.stringify(verify);
    throw new TypeError(`gitlab: \`verify\`: got ${got}, expected "token" or "signature"`);
  }
  const { secret } = options;
  const use = { settings: options, mismatch: "token_mismatch" } as const;
  const parts = secretParts("gitlab", secret, use, (tokens) =>
    createTokenScheme({ tokens, header: "X-Gitlab-Token" }),
  );
  const [current] = parts.secrets;
  return defineSource({
    preset: "gitlab",
    facts: FACTS,
    settings: options,
    ...parts,
    contract: { ...CONTRACT, id: TOKEN_ID },
    credential: "the header X-Gitlab-Token",
    ...(current !== undefined && { sign: () => ({ "X-Gitlab-Token": current }) }),
  });
}

gitlab.describe = describe({
  preset: "gitlab",
  facts: FACTS,
  signs: "a fixed token, over nothing; or Standard Webhooks with a signing token",
  contract: { ...CONTRACT, id: TOKEN_ID },
});
