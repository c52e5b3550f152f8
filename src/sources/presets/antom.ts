import type { ContractData } from "../contract/event-contract.ts";
import type { FixedResponse } from "../contract/responses.ts";
import { createPublicKeyScheme, type PublicKeyData } from "../schemes/public-key.ts";
import { coversPath } from "../schemes/signed-content.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { PlatformFacts, SourceDefinition, SourceSettings } from "../source-definition.ts";
import { describe, describeSignature } from "./describe.ts";
import type { SecretOption } from "./given-secrets.ts";
import { defineSource, secretParts } from "./preset.ts";
import { assertOptionNames } from "./source-settings.ts";

export interface AntomOptions extends SourceSettings {
  /** Antom's public key as its dashboard shows it, base64 or PEM; several while it is rotated. */
  readonly publicKey: SecretOption | TenantSecrets;
}

const SCHEME: PublicKeyData = {
  algorithm: "rsa-sha256",
  signature: { header: "Signature", encoding: "base64", extract: signatureIn },
  signed: "{method} {target}\n{header.Client-Id}.{header.Request-Time}.{body}",
};

const SUCCESS: FixedResponse = {
  body: { result: { resultCode: "SUCCESS", resultStatus: "S", resultMessage: "success" } },
};

const FACTS: PlatformFacts = {
  title: "Antom",
  docs: "https://docs.antom.com/ac/ams/digital_signature",
  proof: "documented",
  identity: { why: "no id; a body has the payment and its result, and `Request-Time` is of the sending" },
  retryHours: 25,
};

const CONTRACT: ContractData = {
  id: "sha256",
  renewsTimestamp: true,
  type: [
    "body.notifyType",
    "body.authorizationNotifyType",
    "body.disputeNotificationType",
    "body.subscriptionNotificationType",
    "=NOTIFICATION",
  ],
  responses: { success: SUCCESS, duplicate: SUCCESS, ignored: SUCCESS },
};

/**
 * Antom (Alipay+): `Signature: algorithm=RSA256,keyVersion=…,signature=…`, RSA-SHA256 over method, path, `Client-Id`,
 * `Request-Time` and body; base64, mostly percent-encoded. The response has fixed values and is not signed. Notifications
 * have no id: the SHA-256 of the body stands for it. Source: https://docs.antom.com/ac/ams/digital_signature;
 * alipay/global-open-sdk-php `client/SignatureTool.php`; https://docs.antom.com/ac/ams/notify_vaulting (retries).
 * @throws TypeError that names the option that is wrong
 */
export function antom(options: AntomOptions): SourceDefinition {
  assertOptionNames("antom", options, { publicKey: true });
  const use = { settings: options, option: "publicKey", signsPath: coversPath(SCHEME.signed) };
  return defineSource({
    preset: "antom",
    facts: FACTS,
    settings: options,
    ...secretParts("antom", options.publicKey, use, (keys, { clock }) =>
      createPublicKeyScheme(SCHEME, { keys, clock }),
    ),
    secrets: [],
    credential: { headers: ["Signature"] },
    contract: CONTRACT,
  });
}

antom.describe = describe({
  preset: "antom",
  facts: FACTS,
  signs: describeSignature(SCHEME),
  contract: CONTRACT,
});

/** The SDK decodes percent signs only where the text is no base64 yet: there, `+` is a letter. */
function signatureIn(header: string): string | undefined {
  for (const field of header.split(",")) {
    const [name = "", ...value] = field.split("=");
    if (name.trim() !== "signature") continue;
    const text = value.join("=").trim();
    return text.includes("%") ? percentDecoded(text) : text;
  }
  return undefined;
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
