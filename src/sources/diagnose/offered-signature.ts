import type { Finding } from "../../domain/index.ts";
import type { DistinctHeaders } from "../schemes/scheme.ts";

export interface ClaimedDigest {
  readonly digest: Uint8Array;
  /** How its format differs from 64 lowercase hexadecimal digits. */
  readonly findings: readonly Finding[];
  /** The timestamp in the same header, as Stripe sends it. */
  readonly timestamp: string | undefined;
}

interface OfferedSignature {
  readonly claims: readonly ClaimedDigest[];
  /** What is wrong with the header; never empty where there are no claims. */
  readonly findings: readonly Finding[];
}

/** Each claim is compared with each candidate. */
const MAX_CLAIMS = 4;
const MAX_HEADER_LENGTH = 2_048;
const DIGEST = /(?<![A-Za-z0-9+/_-])(?:[0-9A-Fa-f]{64}|[A-Za-z0-9+/_-]{43}=?)(?![A-Za-z0-9+/_=-])/g;
const HEX_DIGEST = /^[0-9A-Fa-f]{64}$/;
const SOME_HEX = /[0-9A-Fa-f]{16,}/;
const TIMESTAMP = /(?:^|[,;\s])ts?=(\d{1,17})(?:[,;\s]|$)/;
/** The only text of a caller that a diagnosis repeats. */
export const KNOWN_PREFIX = /(?:^|[^a-z])((?:hmac-sha256|sha256|h1|v[01])[=:]?)$/i;
/** How many hexadecimal digits other algorithms have. */
const OTHER_ALGORITHMS: Readonly<Record<number, string>> = {
  32: "HMAC-MD5",
  40: "HMAC-SHA1",
  96: "HMAC-SHA384",
  128: "HMAC-SHA512",
};

/** The headers in which other platforms send their signatures. */
export const OTHER_HEADERS: Readonly<Record<string, string>> = {
  "X-Hub-Signature-256": ", as GitHub and Meta send it",
  "Stripe-Signature": ", as Stripe sends it",
  "Webhook-Signature": ", as Standard Webhooks has it",
  "Svix-Signature": ", as Svix sends it",
  "X-Slack-Signature": ", as Slack sends it",
  "X-Shopify-Hmac-Sha256": ", as Shopify sends it",
  "X-Square-Hmacsha256-Signature": ", as Square sends it",
  "Paddle-Signature": ", as Paddle sends it",
  "X-Zm-Signature": ", as Zoom sends it",
  "Linear-Signature": ", as Linear sends it",
  "X-Razorpay-Signature": ", as Razorpay sends it",
  "Paypal-Transmission-Sig": ", as PayPal sends it, made with a private key",
  "X-Webhook-Signature": "",
  Signature: "",
};

export function offeredSignature(headers: DistinctHeaders): OfferedSignature {
  const given = headers["x-signature"];
  const values = (given ?? []).filter((value) => value !== "");
  if (values.length > 0) return readXSignature(values);
  const missing = (message: string) => ({ claims: [], findings: [{ code: "missing", message } as const] });
  if (given !== undefined) return missing("`X-Signature` is empty.");
  const other = Object.entries(OTHER_HEADERS).find(([name]) => headers[name.toLowerCase()]?.[0]);
  if (other === undefined) return missing("The request has no `X-Signature`, nor a similar header.");
  const [name, sender] = other;
  const message = `The request has no \`X-Signature\`, but \`${name}\`${sender}.`;
  return {
    claims: claimsOf(headers[name.toLowerCase()] ?? []),
    findings: [{ code: "other_header", message }],
  };
}

function readXSignature(values: readonly string[]): OfferedSignature {
  const claims = claimsOf(values);
  const repeated = (message: string) => ({ claims, findings: [{ code: "repeated", message } as const] });
  if (values.length > 1) return repeated(`The request has ${values.length} \`X-Signature\` headers.`);
  if (claims.length > 1) return repeated(`\`X-Signature\` holds ${claims.length} signatures.`);
  return { claims, findings: claims.length === 0 ? [malformed(values[0] ?? "")] : [] };
}

/** Only its length says what came instead of a digest. */
function malformed(value: string): Finding {
  const { length = 0 } = SOME_HEX.exec(value.slice(0, MAX_HEADER_LENGTH))?.[0] ?? "";
  const algorithm = OTHER_ALGORITHMS[length];
  const found =
    length === 0 || length === 64
      ? "holds no digest, neither in hexadecimal nor in base64"
      : `holds ${length} hexadecimal digits${algorithm === undefined ? "" : `, as ${algorithm} has`}; HMAC-SHA256 has 64`;
  return { code: "malformed", message: `\`X-Signature\` ${found}.` };
}

function claimsOf(values: readonly string[]): ClaimedDigest[] {
  return values.slice(0, MAX_CLAIMS).flatMap(claimsIn).slice(0, MAX_CLAIMS);
}

function claimsIn(value: string): ClaimedDigest[] {
  if (value.length > MAX_HEADER_LENGTH) return [];
  const rest = value.replace(DIGEST, "").replace(/[\s,]/g, "");
  const around = rest === "" ? [] : [prefix(rest)];
  const timestamp = TIMESTAMP.exec(value)?.[1];
  return [...value.matchAll(DIGEST)].map(([text]) => {
    const isHex = HEX_DIGEST.test(text);
    const digest = Buffer.from(text, isHex ? "hex" : "base64");
    if (isHex && !/[A-F]/.test(text)) return { digest, findings: around, timestamp };
    const format = isHex ? "upper-case hexadecimal" : "base64";
    const encoding: Finding = { code: "encoding", message: `The signature is in ${format}.` };
    return { digest, findings: [...around, encoding], timestamp };
  });
}

function prefix(rest: string): Finding {
  const [, known] = KNOWN_PREFIX.exec(rest) ?? [];
  const message =
    known === undefined ? "Other text surrounds the signature." : `\`${known}\` precedes the signature.`;
  return { code: "prefix", message };
}
