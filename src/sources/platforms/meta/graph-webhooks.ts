import type { ContractData } from "../../contract/event-contract.ts";
import { hmacPreset } from "../../presets/hmac-preset.ts";
import type { Preset } from "../../presets/preset.ts";
import { type PresetOptions, requiredTexts, type SecretOption } from "../../presets/secrets.ts";
import { assertSecret } from "../../schemes/secret-keys.ts";
import type { PlatformFacts } from "../../source-definition.ts";

export interface MetaOptions extends PresetOptions {
  /** The verify token that you enter when you register the address; several while you change it. */
  readonly verifyToken: SecretOption;
}

interface GraphPreset {
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly contract: ContractData;
}

/**
 * Webhooks of Meta's Graph API: `X-Hub-Signature-256: sha256=…`, HMAC-SHA256 over the body, in which characters beyond
 * ASCII are escaped; the key is the app secret. A new address is asked by GET for `hub.challenge`. Source:
 * WhatsApp-Nodejs-SDK of Meta, `src/utils.ts`, whose vector is the proof; Meta, "Webhooks, getting started".
 */
export function graphPreset(data: GraphPreset): Preset<MetaOptions> {
  const contractOf = (verifyTokens: readonly string[]): ContractData => ({
    ...data.contract,
    handshakes: [
      {
        isSigned: false,
        method: "GET",
        when: { "query.hub.mode": "subscribe" },
        verifyToken: { at: "query.hub.verify_token", values: verifyTokens },
        reply: { kind: "text", at: "query.hub.challenge" },
      },
    ],
  });
  return hmacPreset<MetaOptions>({
    preset: data.preset,
    facts: data.facts,
    options: { verifyToken: "required" },
    scheme: {
      signature: { header: "X-Hub-Signature-256", encoding: "hex", prefix: "sha256=" },
      signed: "{body}",
    },
    contract: contractOf([]),
    made({ verifyToken }) {
      const tokens = requiredTexts(verifyToken, "verifyToken").map((token) =>
        assertSecret(token, { option: "verifyToken" }),
      );
      return { contract: contractOf(tokens), otherSecrets: tokens };
    },
  });
}
