import { percentDecoded } from "../../domain/index.ts";
import { publicKeyPreset } from "../presets/public-key-preset.ts";

export type { PublicKeyOptions as AntomOptions } from "../presets/public-key-preset.ts";

/**
 * Antom (Alipay+): `Signature: algorithm=RSA256,keyVersion=…,signature=…`, base64 that is mostly percent-encoded. The
 * key is Antom's public key as its dashboard shows it. The response has fixed values and is not signed. Source:
 * https://docs.antom.com/ac/ams/digital_signature; alipay/global-open-sdk-php `client/SignatureTool.php`;
 * https://docs.antom.com/ac/ams/notify_vaulting (retries).
 */
export const antom = publicKeyPreset("antom", {
  docs: "https://docs.antom.com/ac/ams/digital_signature",
  identity: { why: "no id; a body has the payment and its result, and `Request-Time` is of the sending" },
  retryHours: 25,
  algorithm: "rsa-sha256",
  signature: { header: "Signature", encoding: "base64", extract: signatureIn },
  signed: "{method} {target}\n{header.Client-Id}.{header.Request-Time}.{body}",
  id: "sha256",
  renewsTimestamp: true,
  type: [
    "body.notifyType",
    "body.authorizationNotifyType",
    "body.disputeNotificationType",
    "body.subscriptionNotificationType",
    "=NOTIFICATION",
  ],
  responses: {
    received: { body: { result: { resultCode: "SUCCESS", resultStatus: "S", resultMessage: "success" } } },
  },
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
