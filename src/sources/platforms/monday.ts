import { createAddressedScheme, sharedSecretKeys } from "../presets/jwt-preset.ts";
import { requireText } from "../presets/options.ts";
import { optionsPreset } from "../presets/preset.ts";
import { type PresetOptions, secretParts } from "../presets/secrets.ts";
import { credentialHeader } from "../schemes/token.ts";

export interface MondayOptions extends PresetOptions {
  /** The audience of its tokens. Default: the registered address. */
  readonly audience?: string;
}

/**
 * monday.com: `Authorization` holds a JWT without `Bearer`, signed with the app's signing secret. Note that **the body
 * is not signed**: a reader of a token may send any event for its five minutes. Only webhooks that an integration app
 * has made have a token. Source: developer.monday.com/apps/docs/integration-authorization,
 * developer.monday.com/api-reference/docs/webhooks (retries each minute for 30 minutes).
 */
export const monday = optionsPreset<MondayOptions>("monday", {
  title: "monday.com",
  docs: "https://developer.monday.com/apps/docs/integration-authorization",
  identity: { why: "`triggerUuid` names the trigger" },
  retryHours: 0.5,
  unsigned: "the body",
  signs: "JWT (HS256) for the address",
  id: "body.event.triggerUuid",
  type: "body.event.type",
  eventTime: { at: "body.event.triggerTime", unit: "iso", isSigned: false },
  data: "body.event",
  isIdSigned: false,
  handshakes: [
    {
      isSigned: false,
      when: { "body.challenge": true },
      reply: { kind: "json", fields: { challenge: "body.challenge" } },
    },
  ],
  options: { secret: "required", audience: "optional" },
  make(options) {
    const { audience } = options;
    if (audience !== undefined) requireText("audience", audience, "https://hooks.example.com/hooks/monday");
    const token = {
      algorithm: "HS256",
      header: credentialHeader("Authorization", ""),
      requiredClaims: ["aud", "exp"],
    } as const;
    const use = { settings: options, mismatch: "jwt_signature", signsPath: audience === undefined } as const;
    return {
      ...secretParts(options.secret, use, (secrets, environment) =>
        createAddressedScheme({ ...token, keys: sharedSecretKeys(secrets) }, environment, audience),
      ),
      signsAddress: audience === undefined,
      credential: { headers: ["Authorization"] },
    };
  },
});
