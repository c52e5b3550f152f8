import { platformJwt, sharedSecretKeys } from "../presets/jwt-preset.ts";
import { requireText } from "../presets/options.ts";
import { optionsPreset } from "../presets/preset.ts";
import { type FixedSecretOptions, requiredTexts } from "../presets/secrets.ts";
import { credentialHeader } from "../schemes/token.ts";

export interface LivekitOptions extends FixedSecretOptions {
  /** The API key that signs the webhooks; `secret` is its API secret. Several while a pair is rotated. */
  readonly apiKey: string | readonly string[];
}

/**
 * LiveKit: the JWT is issued by the API key, and stands in `Authorization` without `Bearer`. A token lasts five
 * minutes, and retries have the same one. Source: livekit-server-sdk `src/WebhookReceiver.ts`, livekit/protocol
 * `webhook/url_notifier.go`; docs.livekit.io/server/webhooks.
 */
export const livekit = optionsPreset<LivekitOptions>("livekit", {
  title: "LiveKit",
  docs: "https://docs.livekit.io/server/webhooks/",
  proof: "signs",
  renewsTimestamp: false,
  signs: "JWT (HS256) with the SHA-256 of the body",
  id: "body.id",
  type: "body.event",
  eventTime: { at: "body.createdAt", unit: "seconds" },
  hasSignedTime: true,
  options: { secret: "required", apiKey: "required" },
  make(options) {
    const secrets = requiredTexts(options.secret);
    const issuer = [options.apiKey].flat().map((key) => requireText("apiKey", key, "APIcR6NxGcRnNjh"));
    if (issuer.length === 0) requireText("apiKey", undefined, "APIcR6NxGcRnNjh");
    const keys = sharedSecretKeys(secrets);
    return {
      secrets,
      credential: { headers: ["Authorization"] },
      scheme: ({ clock }) =>
        platformJwt({
          algorithm: "HS256",
          keys,
          header: credentialHeader("Authorization", ""),
          issuer,
          bodyClaim: "sha256",
          bodyClaimEncoding: "base64",
          requiredClaims: ["iss", "exp"],
          clock,
        }),
    };
  },
});
