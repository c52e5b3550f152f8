import { crc32 } from "node:zlib";
import type { Clock, Refused } from "../../../domain/index.ts";
import { decodeExactly } from "../../formats/encoding.ts";
import { wrongOption } from "../../option-error.ts";
import type { SignedRequest } from "../../request.ts";
import { type CertificateOptions, certificateKeys } from "../../schemes/certificate-keys.ts";
import { keysUnavailable } from "../../schemes/fetched-keys.ts";
import { isSignedBy } from "../../schemes/public-keys.ts";
import { malformed, missingCredential, refuse, type Scheme } from "../../schemes/scheme.ts";

export interface PayPalOptions {
  /** The ids of the webhook in PayPal's dashboard; the current one first. */
  readonly webhookIds: readonly string[];
  /** Default: `live`. Neither takes what the other has signed. */
  readonly environment?: "live" | "sandbox";
  readonly clock: Clock;
  /** Another place of certificates than PayPal, or a chain to check. */
  readonly certificates?: Partial<Pick<CertificateOptions, "pin" | "hosts" | "trust" | "now">>;
}

/** Such as `CERT-360caa42-fca2a594-90621ecd`, in the examples of PayPal's documentation and SDKs. */
const PATH = /^\/v1\/notifications\/certs\/CERT-[A-Za-z0-9]+(?:-[A-Za-z0-9]+){0,7}$/;
const HOSTS = {
  live: { host: /^api(?:-m)?\.paypal\.com$/, subject: "messageverificationcerts.paypal.com" },
  sandbox: { host: /^api(?:-m)?\.sandbox\.paypal\.com$/, subject: "messageverificationcerts.sandbox.paypal.com" },
};

/** Without the bar that divides what is signed. */
const ID = /^[A-Za-z0-9_-]{1,128}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const ALGORITHM = "SHA256withRSA";

/**
 * PayPal: RSA-SHA256 over `transmissionId|time|webhookId|crc32`, the CRC-32 of the raw body in decimal
 * (developer.paypal.com/api/rest/webhooks, "Self verification"). CRC-32 is no cryptographic hash: a recorded message
 * can be given another body of the same checksum. Data that moves money is to be read from PayPal's API by the event's
 * id.
 */
export function createPayPalScheme(options: PayPalOptions): Scheme {
  const { webhookIds, environment = "live", clock, certificates } = options;
  if (webhookIds.length === 0 || !webhookIds.every((id) => ID.test(id)))
    throw wrongOption("webhookId", webhookIds, "the id of the webhook, such as 5GP028458E2496506");
  const { host, subject } = HOSTS[environment];
  const pin = { host, path: PATH };
  const keys = certificateKeys({ name: "PayPal", pin, hosts: () => [subject], clock, ...certificates });
  return {
    challenge: 'Signature realm="callbacks", algorithm="rsa-sha256"',
    isCostly: true,
    async verify(request) {
      const claims = readHeaders(request);
      if ("kind" in claims) return claims;
      const { id, time, signature, certificateUrl } = claims;
      const key = await keys.keyAt(certificateUrl, request.bodyReservation).catch(keysUnavailable);
      if (typeof key === "string") return refuse("signature_mismatch", `\`PayPal-Cert-Url\`: ${key}`);
      if ("kind" in key) return key;
      const checksum = crc32(request.body);
      const signed = (webhookId: string) => Buffer.from(`${id}|${time}|${webhookId}|${checksum}`);
      const index = webhookIds.findIndex((webhookId) =>
        isSignedBy(key, "rsa-sha256", { content: [signed(webhookId)], signature }),
      );
      if (index === -1) {
        const detail = "`PayPal-Transmission-Sig`: another webhook id, or a body that was changed on the way";
        return refuse("signature_mismatch", detail);
      }
      // Other bodies have the same checksum.
      const signedText = (_body: string, hasTime: boolean) => `${id}|${hasTime ? time : ""}|${checksum}`;
      return { verified: [{ method: "public_key", index }], signedText };
    },
  };
}

interface Claims {
  readonly id: string;
  readonly time: string;
  readonly signature: Buffer;
  readonly certificateUrl: string;
}

function readHeaders({ headers }: SignedRequest): Claims | Refused {
  const names = ["Sig", "Id", "Time"].map((part) => `PayPal-Transmission-${part}`);
  const values: string[] = [];
  for (const name of [...names, "PayPal-Cert-Url", "PayPal-Auth-Algo"]) {
    const [value = "", ...more] = headers[name.toLowerCase()] ?? [];
    if (more.length > 0) return refuse("signature_repeated", `\`${name}\`: expected once`);
    if (value === "") return missingCredential("signature_missing", `\`${name}\`: missing`);
    values.push(value);
  }
  const [claimed = "", id = "", time = "", certificateUrl = "", algorithm] = values;
  const signature = decodeExactly(claimed, "base64");
  if (signature === undefined) return malformed("`PayPal-Transmission-Sig`: expected base64");
  if (!ID.test(id)) return malformed("`PayPal-Transmission-Id`: expected letters, digits and hyphens");
  if (!TIME.test(time)) return malformed("`PayPal-Transmission-Time`: expected a time in UTC");
  if (algorithm !== ALGORITHM) return malformed(`\`PayPal-Auth-Algo\`: expected ${ALGORITHM}`);
  return { id, time, signature, certificateUrl };
}
