import type { Finding } from "../../domain/index.ts";
import type { DistinctHeaders } from "../schemes/scheme.ts";
import { type ClaimedDigest, claimsIn } from "./claimed-digest.ts";

/** What a request offers as its signature. */
export interface OfferedSignature {
  readonly claims: readonly ClaimedDigest[];
  /** What is wrong with the headers, whatever stands in them. */
  readonly findings: readonly Finding[];
  /** The header's name, as it is shown. */
  readonly header: string;
  /** Whether nothing is there to be looked at. */
  readonly isEmpty: boolean;
}

/** Each is compared with each guess; who has something to send sends one. */
const MAX_CLAIMS = 4;

interface KnownHeader {
  readonly name: string;
  readonly of?: string;
  /** Made with a private key, so that no shared secret can have made it. */
  readonly key?: string;
}

/** The headers in which other platforms send their signatures. */
const OTHERS: readonly KnownHeader[] = [
  { name: "X-Hub-Signature-256", of: "GitHub and Meta send" },
  { name: "Stripe-Signature", of: "Stripe sends" },
  { name: "Webhook-Signature", of: "Standard Webhooks has" },
  { name: "Svix-Signature", of: "Svix sends" },
  { name: "X-Slack-Signature", of: "Slack sends" },
  { name: "X-Shopify-Hmac-Sha256", of: "Shopify sends" },
  { name: "Shopify-Hmac-Sha256", of: "Shopify sends" },
  { name: "X-Twilio-Signature", of: "Twilio sends" },
  { name: "X-Square-Hmacsha256-Signature", of: "Square sends" },
  { name: "Paddle-Signature", of: "Paddle sends" },
  { name: "X-Zm-Signature", of: "Zoom sends" },
  { name: "Linear-Signature", of: "Linear sends" },
  { name: "HmacSignature", of: "Adyen sends" },
  { name: "X-Razorpay-Signature", of: "Razorpay sends" },
  { name: "X-Mollie-Signature", of: "Mollie sends" },
  { name: "X-HubSpot-Signature-v3", of: "HubSpot sends" },
  { name: "X-HubSpot-Signature", of: "HubSpot sends" },
  { name: "X-Lark-Signature", of: "Lark sends" },
  { name: "X-Hub-Signature", of: "Intercom sends" },
  { name: "X-Signature-Ed25519", of: "Discord sends", key: "Ed25519" },
  { name: "X-Twilio-Email-Event-Webhook-Signature", of: "SendGrid sends", key: "ECDSA" },
  { name: "Wechatpay-Signature", of: "WeChat Pay sends", key: "RSA" },
  { name: "Paypal-Transmission-Sig", of: "PayPal sends", key: "RSA" },
  { name: "X-Signature-256" },
  { name: "X-Signature-Sha256" },
  { name: "X-Webhook-Signature" },
  { name: "X-Hmac-Signature" },
  { name: "X-Hmac-Sha256" },
  { name: "Signature" },
];

export function offeredSignature(headers: DistinctHeaders): OfferedSignature {
  const header = "X-Signature";
  const given = headers["x-signature"];
  const values = (given ?? []).filter((value) => value !== "");
  if (values.length > 0) {
    const claims = claimsOf(values);
    return { claims, findings: repetition(values, claims), header, isEmpty: false };
  }
  if (given !== undefined) return nothing({ code: "empty", message: "X-Signature is there, and empty." });
  const other = OTHERS.find(({ name }) => (headers[name.toLowerCase()]?.[0] ?? "") !== "");
  if (other === undefined)
    return nothing({
      code: "missing",
      message: "There is no X-Signature, nor another header that is known to carry a signature.",
    });
  return signatureIn(other, headers[other.name.toLowerCase()] ?? []);
}

/** Some proxies join headers that stand twice. */
function repetition(values: readonly string[], claims: readonly ClaimedDigest[]): Finding[] {
  const many = `X-Signature stands in the request ${values.length} times.`;
  if (values.length > 1) return [{ code: "repeated", message: many }];
  const isJoined = values[0]?.includes(",") === true && claims.some(({ findings }) => findings.length === 0);
  return isJoined
    ? [{ code: "repeated", message: "X-Signature holds several values with commas between." }]
    : [];
}

function signatureIn({ name, of, key }: KnownHeader, values: readonly string[]): OfferedSignature {
  const as = of === undefined ? "" : `, as ${of} it`;
  const elsewhere = {
    code: "other_header",
    message: `There is no X-Signature; ${name} is there${as}.`,
  } as const;
  if (key === undefined)
    return { claims: claimsOf(values), findings: [elsewhere], header: name, isEmpty: false };
  const message = `That is made with a private key (${key}), and not with a shared secret.`;
  return { claims: [], findings: [elsewhere, { code: "algorithm", message }], header: name, isEmpty: true };
}

function claimsOf(values: readonly string[]): ClaimedDigest[] {
  return values.slice(0, MAX_CLAIMS).flatMap(claimsIn).slice(0, MAX_CLAIMS);
}

function nothing(finding: Finding): OfferedSignature {
  return { claims: [], findings: [finding], header: "X-Signature", isEmpty: true };
}
