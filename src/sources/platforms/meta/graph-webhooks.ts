import type { Handshake } from "../../contract/handshakes.ts";
import { hmacPreset } from "../../presets/hmac-preset.ts";
import type { Platform, Preset } from "../../presets/preset.ts";
import { type PresetOptions, requiredTexts, type SecretOption } from "../../presets/secrets.ts";
import { assertSecret } from "../../schemes/secret-keys.ts";

export interface MetaOptions extends PresetOptions {
  /** The verify token that you enter when you register the address; several while you change it. */
  readonly verifyToken: SecretOption;
}

/**
 * Webhooks of Meta's Graph API: the signed body has characters beyond ASCII escaped; the key is the app secret. Source:
 * WhatsApp-Nodejs-SDK of Meta, `src/utils.ts`, whose vector is the proof; Meta, "Webhooks, getting started".
 */
export function graphPreset(preset: string, data: Platform): Preset<MetaOptions> {
  const registration = (verifyTokens: readonly string[]): Handshake => ({
    isSigned: false,
    method: "GET",
    when: { "query.hub.mode": "subscribe" },
    verifyToken: { at: "query.hub.verify_token", values: verifyTokens },
    reply: { kind: "text", at: "query.hub.challenge" },
  });
  return hmacPreset<MetaOptions>(preset, {
    ...data,
    options: { verifyToken: "required" },
    signature: { header: "X-Hub-Signature-256", encoding: "hex", prefix: "sha256=" },
    handshakes: [registration([])],
    made({ verifyToken }) {
      const tokens = requiredTexts(verifyToken, "verifyToken").map((token) =>
        assertSecret(token, { option: "verifyToken" }),
      );
      return { handshakes: [registration(tokens)], otherSecrets: tokens };
    },
  });
}
