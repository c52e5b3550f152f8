import { platformJwt, publicPemKeys, sharedSecretKeys } from "../presets/jwt-preset.ts";
import { assertOneOf } from "../presets/options.ts";
import { optionsPreset } from "../presets/preset.ts";
import { requiredTexts, type SecretOption } from "../presets/secrets.ts";
import { credentialHeader } from "../schemes/token.ts";
import type { SourceSettings } from "../source-definition.ts";

export interface FusionAuthOptions extends SourceSettings {
  /** The secret of an HMAC key, for HS256. */
  readonly secret?: SecretOption;
  /** Instead of `secret`: the public key in PEM of an asymmetric one. In a rotation several, the current one first. */
  readonly publicKey?: SecretOption;
  /** The algorithm of the public key. Default: `RS256`. */
  readonly algorithm?: "RS256" | "ES256" | "EdDSA";
}

const ALGORITHMS = ["RS256", "ES256", "EdDSA"];

/**
 * FusionAuth with signed webhooks: an HMAC key is `secret` (HS256), any other one `publicKey`. Other algorithms than
 * these four are refused. Source: FusionAuth, "Signing webhooks".
 */
export const fusionauth = optionsPreset<FusionAuthOptions>("fusionauth", {
  title: "FusionAuth",
  docs: "https://fusionauth.io/docs/extend/events-and-webhooks/signing",
  signs: "JWT (HS256, RS256, ES256 or EdDSA) with the SHA-256 of the body",
  id: "body.event.id",
  type: "body.event.type",
  eventTime: { at: "body.event.createInstant", unit: "milliseconds" },
  data: "body.event",
  options: { secret: "optional", publicKey: "optional", algorithm: "optional" },
  make(options) {
    const { publicKey, algorithm = "RS256" } = options;
    const isShared = publicKey === undefined;
    const secrets = isShared ? requiredTexts(options.secret) : [];
    assertOneOf("algorithm", algorithm, ALGORITHMS);
    const keys = isShared
      ? sharedSecretKeys(secrets)
      : publicPemKeys(publicKey, algorithm, `\`algorithm: "${algorithm}"\``);
    return {
      secrets,
      credential: { headers: ["X-FusionAuth-Signature-JWT"] },
      scheme: ({ clock }) =>
        platformJwt({
          algorithm: isShared ? "HS256" : algorithm,
          keys,
          header: credentialHeader("X-FusionAuth-Signature-JWT"),
          bodyClaim: "request_body_sha256",
          bodyClaimEncoding: "base64",
          requiredClaims: ["request_body_sha256"],
          clock,
        }),
    };
  },
});
