import type { ContractData } from "../contract/event-contract.ts";
import { createJwtScheme } from "../schemes/jwt.ts";
import { credentialHeader } from "../schemes/token.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";
import { describe } from "./describe.ts";
import { requiredTexts } from "./given-secrets.ts";
import { CLOCK_TOLERANCE_SECONDS, requireText, sharedSecretKeys } from "./jwt-preset.ts";
import { defineSource, type FixedSecretOptions } from "./preset.ts";
import { assertOptionNames } from "./source-settings.ts";

export interface LivekitOptions extends FixedSecretOptions {
  /** The API key that signs the webhooks; `secret` is its API secret. Several while a pair is rotated. */
  readonly apiKey: string | readonly string[];
}

const FACTS: PlatformFacts = {
  title: "LiveKit",
  docs: "https://docs.livekit.io/server/webhooks/",
  proof: "signs",
  renewsTimestamp: false,
};

const CONTRACT: ContractData = {
  id: "body.id",
  type: "body.event",
  eventTime: { at: "body.createdAt", unit: "seconds" },
  hasSignedTime: true,
};

/**
 * LiveKit: `Authorization` holds a JWT without `Bearer`, HS256 with the API secret, issued by the API key; its `sha256`
 * claim is the hash of the body in base64. A token lasts five minutes, and retries have the same one. Source:
 * livekit-server-sdk `src/WebhookReceiver.ts`, livekit/protocol `webhook/url_notifier.go`;
 * docs.livekit.io/server/webhooks.
 * @throws TypeError that names the option that is wrong
 */
export function livekit(options: LivekitOptions): SourceDefinition {
  assertOptionNames("livekit", options, { secret: true, apiKey: true });
  const secrets = requiredTexts("livekit", options.secret);
  const issuer = [options.apiKey]
    .flat()
    .map((key) => requireText("livekit", "apiKey", key, "APIcR6NxGcRnNjh"));
  if (issuer.length === 0) requireText("livekit", "apiKey", undefined, "APIcR6NxGcRnNjh");
  const keys = sharedSecretKeys(secrets);
  return defineSource({
    preset: "livekit",
    facts: FACTS,
    settings: options,
    secrets,
    credential: { headers: ["Authorization"] },
    scheme: ({ clock }) =>
      createJwtScheme({
        algorithm: "HS256",
        keys,
        header: credentialHeader("Authorization", ""),
        issuer,
        audience: null,
        clockToleranceSeconds: CLOCK_TOLERANCE_SECONDS,
        bodyClaim: "sha256",
        bodyClaimEncoding: "base64",
        requiredClaims: ["iss", "exp"],
        clock,
      }),
    contract: CONTRACT,
  });
}

livekit.describe = describe({
  preset: "livekit",
  facts: FACTS,
  signs: "JWT (HS256) with the SHA-256 of the body",
  contract: CONTRACT,
});
