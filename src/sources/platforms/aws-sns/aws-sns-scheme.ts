import { type Clock, isRefused, type JsonObject, type Refused } from "../../../domain/index.ts";
import { decodeExactly } from "../../formats/encoding.ts";
import { parseObject } from "../../formats/parse-body.ts";
import { optionError } from "../../option-error.ts";
import { type CertificateOptions, certificateKeys } from "../../schemes/certificate-keys.ts";
import { keysUnavailable } from "../../schemes/fetched-keys.ts";
import type { AddressPin } from "../../schemes/key-request.ts";
import { isSignedBy } from "../../schemes/public-keys.ts";
import { malformed, missingCredential, refuse, type Scheme } from "../../schemes/scheme.ts";

export interface SnsOptions {
  /** The ARNs whose messages are ours: any AWS account can have SNS send a signed message to any address. */
  readonly topics: readonly string[];
  readonly clock: Clock;
  /** Another place of certificates than AWS, or a chain to check. */
  readonly certificates?: Partial<Pick<CertificateOptions, "pin" | "hosts" | "trust" | "now">>;
}

/** Only one path: other paths of that host respond with what the caller asks for. */
const PIN: AddressPin = {
  host: /^sns\.[a-z]{2}[a-z0-9-]{3,30}\.amazonaws\.com(?:\.cn)?$/,
  path: /^\/SimpleNotificationService-[0-9a-f]{32}\.pem$/,
};

/** As `SigningCertUrlParser` of aws-sdk-java-v2 has it, by the region in the certificate's address. */
function signingHosts({ host }: URL): string[] {
  const [, region = "", ...domain] = host.split(".");
  const suffix = domain.join(".");
  const government = region.startsWith("us-gov-") ? [`sns-us-gov-west-1.${suffix}`] : [];
  const commercial = [`sns-signing.${region}.${suffix}`, `sns.${region}.${suffix}`, `sns-${region}.${suffix}`];
  return [`sns.${suffix}`, ...commercial, ...government];
}

const NOTIFICATION = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
const CONFIRMATION = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
const SIGNED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["Notification", NOTIFICATION],
  ["SubscriptionConfirmation", CONFIRMATION],
  ["UnsubscribeConfirmation", CONFIRMATION],
]);
const ALGORITHMS = { "1": "rsa-sha1", "2": "rsa-sha256" } as const;
const LINE_BREAK = /[\r\n]/;

const RAW = missingCredential(
  "signature_missing",
  "`x-amz-sns-rawdelivery`: raw message delivery is on, and SNS signs none of it; switch it off for this subscription",
);

interface SnsMessage {
  readonly content: Uint8Array;
  readonly signature: Buffer;
  readonly version: "1" | "2";
  readonly certificateUrl: string;
}

/**
 * Amazon SNS: a signature in the body, over some of its fields
 * (docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html). The body is parsed before it is verified,
 * bounded as any, and only the named fields are read. `UnsubscribeURL` is not signed. The file at `SigningCertURL`
 * holds no chain. The TLS connection to the pinned host vouches for it unless `certificates.trust` is given.
 */
export function createSnsScheme(options: SnsOptions): Scheme {
  const { topics, clock, certificates } = options;
  if (topics.length === 0) throw optionError("topics", "none", "the ARN of at least one topic");
  const keys = certificateKeys({ name: "SNS", pin: PIN, hosts: signingHosts, clock, ...certificates });
  return {
    challenge: 'Signature realm="callbacks", algorithm="rsa"',
    isCostly: true,
    async verify({ headers, body, bodyReservation }) {
      if (headers["x-amz-sns-rawdelivery"] !== undefined) return RAW;
      if (body.length === 0) return missingCredential("signature_missing");
      const message = readMessage(body, topics);
      if ("kind" in message) return message;
      const { version, content, signature } = message;
      const key = await keys.keyAt(message.certificateUrl, bodyReservation).catch(keysUnavailable);
      if (typeof key === "string") return refuse("signature_mismatch", `\`SigningCertURL\`: ${key}`);
      if ("kind" in key) return key;
      if (!isSignedBy(key, ALGORITHMS[version], { content: [content], signature }))
        return refuse("signature_mismatch", "`Signature`: not made by the key at SigningCertURL");
      return { verified: [{ method: "public_key", index: 0 }] };
    },
  };
}

function readMessage(body: Uint8Array, topics: readonly string[]): SnsMessage | Refused {
  const parsed = parseObject(body);
  if (isRefused(parsed)) return malformed(`the body: ${parsed.code}`);
  const { object } = parsed;
  const text = (name: string) => stringField(object, name);
  const claimed = text("Signature");
  if (claimed === undefined) return missingCredential("signature_missing");
  const signature = decodeExactly(claimed, "base64");
  if (signature === undefined) return malformed("`Signature`: expected base64");
  const version = text("SignatureVersion");
  if (version !== "1" && version !== "2") return malformed("`SignatureVersion`: expected 1 or 2");
  const signed = stringToSign(object);
  if (typeof signed !== "string") return signed;
  const topic = text("TopicArn") ?? "";
  if (!topics.includes(topic)) return refuse("signature_mismatch", "`TopicArn`: none of the configured topics");
  const certificateUrl = text("SigningCertURL") ?? "";
  return { content: Buffer.from(signed), signature, version, certificateUrl };
}

/**
 * `Key\nValue\n` of each field. SNS sends a line break in the message only. Any other would let the same signed bytes
 * be divided in another way, under another `MessageId`.
 */
function stringToSign(object: JsonObject): string | Refused {
  const names = SIGNED.get(stringField(object, "Type"));
  if (names === undefined) return malformed(`\`Type\`: expected ${[...SIGNED.keys()].join(", ")}`);
  let signed = "";
  for (const name of names) {
    const value = stringField(object, name);
    if (value === undefined && name === "Subject" && (object[name] ?? null) === null) continue;
    if (value === undefined) return malformed(`\`${name}\`: expected a text`);
    if (name !== "Message" && LINE_BREAK.test(value)) return malformed(`\`${name}\`: holds a line break`);
    signed += `${name}\n${value}\n`;
  }
  return signed;
}

function stringField(object: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  // Lone surrogates would all become U+FFFD among the signed bytes.
  return typeof value === "string" && value.isWellFormed() ? value : undefined;
}
