import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { DiagnosisCode } from "../../src/domain/index.ts";

export const CURRENT = "the-current-secret-of-32-bytes-or-more";
export const PREVIOUS = "the-secret-before-it-of-32-bytes-long";
export const TEST = "the-secret-of-the-test-environment-32";
export const RETIRED = "a-secret-that-was-retired-long-ago-32";
export const HEX_SECRET = "8f742231b10e8888abcd99eeff0011223344556677889900aabbccddeeff0011";
export const BASE64_SECRET = Buffer.alloc(32, 0xa5).toString("base64");
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 0x5a).toString("base64")}`;
export const URL_CALLED = "https://pay.example.com/api/platform/callback";

/** A request as something that is not quite right sends it, and what is to be found out about it. */
export interface RefusedCase {
  readonly title: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The accepted secrets; CURRENT and PREVIOUS when left out. */
  readonly accepted?: readonly string[];
  readonly code: DiagnosisCode;
  readonly says: string;
}

type Encoding = "hex" | "base64" | "base64url";

export const EVENT = {
  event_id: "evt_1",
  event_type: "payment_notify",
  timestamp: 1_767_225_600,
  data: { order_id: "o1", amount: 49.9, note: "für Zoë", link: "https://shop.example/a?b=1&c=<2>" },
};
export const BODY = JSON.stringify(EVENT);
/** 2025-12-31T23:55:00Z. */
const T = "1767225300";

export function mac(
  body: string | Uint8Array,
  key: string | Uint8Array = CURRENT,
  algorithm = "sha256",
  encoding: Encoding = "hex",
) {
  return createHmac(algorithm, key).update(body).digest(encoding);
}

const digits = mac(BODY);
const signed = (value: string) => ({ "x-signature": value });
const written = (title: string, value: string, code: DiagnosisCode, says: string): RefusedCase => ({
  title,
  headers: signed(value),
  code,
  says,
});

const HEADERS: readonly RefusedCase[] = [
  { title: "no signature", headers: {}, code: "missing", says: "There is no X-Signature" },
  { title: "an empty header", headers: signed(""), code: "empty", says: "empty" },
  {
    title: "the header twice",
    headers: { "x-signature": [digits, digits] },
    code: "repeated",
    says: "stands in the request 2 times. Otherwise it is right.",
  },
  {
    title: "the header twice, joined by a proxy",
    headers: { "x-signature": `${digits}, ${digits}` },
    code: "repeated",
    says: "several values with commas between. Otherwise it is right.",
  },
  {
    title: "GitHub's header",
    headers: { "x-hub-signature-256": `sha256=${digits}` },
    code: "other_header",
    says: "X-Hub-Signature-256 is there, as GitHub and Meta send it. `sha256=` stands before the signature. Otherwise it is right.",
  },
  {
    title: "Shopify's header",
    headers: { "x-shopify-hmac-sha256": mac(BODY, CURRENT, "sha256", "base64") },
    code: "other_header",
    says: "The signature is in base64. Otherwise it is right.",
  },
  {
    title: "Discord's header, made with a private key",
    headers: {
      "x-signature-ed25519": sign(
        null,
        Buffer.from(BODY),
        generateKeyPairSync("ed25519").privateKey,
      ).toString("hex"),
    },
    code: "algorithm",
    says: "private key (Ed25519)",
  },
];

const WRITTEN: readonly RefusedCase[] = [
  written("upper case", digits.toUpperCase(), "encoding", "upper-case hexadecimal. Otherwise it is right."),
  written("base64", mac(BODY, CURRENT, "sha256", "base64"), "encoding", "in base64"),
  written("base64url", mac(BODY, CURRENT, "sha256", "base64url"), "encoding", "in base64"),
  written(
    "base64 of the digits",
    Buffer.from(digits).toString("base64"),
    "encoding",
    "base64 of its hexadecimal digits",
  ),
  written("quotes", `"${digits}"`, "encoding", "in quotes"),
  written("white space inside", `${digits.slice(0, 32)} ${digits.slice(32)}`, "encoding", "White space"),
  written("colons between bytes", digits.match(/../g)?.join(":") ?? "", "encoding", "Colons"),
  written(
    "percent signs",
    encodeURIComponent(mac(BODY, CURRENT, "sha256", "base64")),
    "encoding",
    "percent-encoded",
  ),
  written(
    "sha256=",
    `sha256=${digits}`,
    "prefix",
    "`sha256=` stands before the signature. Otherwise it is right.",
  ),
  written("v1=", `v1=${digits}`, "prefix", "`v1=`"),
  written("v0=", `v0=${digits}`, "prefix", "`v0=`"),
  written("0x", `0x${digits}`, "prefix", "`0x`"),
  written(
    "a prefix that nobody knows",
    `MyShop=${digits}`,
    "prefix",
    "Something stands before the signature.",
  ),
  written("Stripe's form over the body alone", `t=${T},v1=${digits}`, "prefix", "A timestamp stands beside"),
  written("no digest", "let-me-in", "malformed", "holds no digest"),
  written("a digest that was cut", digits.slice(0, 50), "malformed", "holds no digest"),
  written("HMAC-SHA1", mac(BODY, CURRENT, "sha1"), "algorithm", "The signature was made with SHA-1"),
  written(
    "Intercom's form",
    `sha1=${mac(BODY, CURRENT, "sha1")}`,
    "algorithm",
    "The signature was made with SHA-1",
  ),
  written("HMAC-SHA512", mac(BODY, CURRENT, "sha512"), "algorithm", "The signature was made with SHA-512"),
  written(
    "HMAC-SHA384 in base64",
    mac(BODY, CURRENT, "sha384", "base64"),
    "algorithm",
    "The signature was made with SHA-384",
  ),
  written("HMAC-MD5", mac(BODY, CURRENT, "md5"), "algorithm", "The signature was made with MD5"),
  written("HMAC-SHA3-256", mac(BODY, CURRENT, "sha3-256"), "algorithm", "HMAC-SHA3-256"),
  written(
    "a SHA-1 of another secret",
    mac(BODY, "another", "sha1"),
    "algorithm",
    "The signature is as long as one of SHA-1",
  ),
  written(
    "a plain SHA-256",
    createHash("sha256").update(BODY).digest("hex"),
    "not_hmac",
    "plain hash of the body",
  ),
  written(
    "SHA-256 of secret and body",
    createHash("sha256")
      .update(CURRENT + BODY)
      .digest("hex"),
    "not_hmac",
    "secret and the body",
  ),
  written(
    "SHA-256 of body and secret",
    createHash("sha256")
      .update(BODY + CURRENT)
      .digest("hex"),
    "not_hmac",
    "body and the secret",
  ),
  written(
    "MD5 of secret and body",
    createHash("md5")
      .update(CURRENT + BODY)
      .digest("hex"),
    "not_hmac",
    "secret and the body",
  ),
];

const spelt = (title: string, secret: string, key: string | Uint8Array, says: string): RefusedCase => ({
  title,
  accepted: [secret],
  headers: signed(mac(BODY, key)),
  code: "secret_spelling",
  says,
});

const SECRETS: readonly RefusedCase[] = [
  {
    title: "a retired secret",
    headers: signed(mac(BODY, RETIRED)),
    code: "previous_secret",
    says: "`previous-2024`",
  },
  {
    title: "the test environment's secret",
    headers: signed(mac(BODY, TEST)),
    code: "other_environment",
    says: "`test`",
  },
  {
    title: "another environment's secret behind a prefix",
    headers: signed(`sha256=${mac(BODY, TEST)}`),
    code: "other_environment",
    says: "`sha256=` stands before the signature. The signature was made with the secret `test`",
  },
  spelt(
    "a line break after the secret",
    CURRENT,
    `${CURRENT}\n`,
    "SIGNING_SECRET with a line break after it",
  ),
  spelt("a Windows line break after it", CURRENT, `${CURRENT}\r\n`, "Windows line break"),
  spelt("a space before it", CURRENT, ` ${CURRENT}`, "space before it"),
  spelt("quotes around it", CURRENT, `"${CURRENT}"`, "quotes around it"),
  spelt("quotes around ours", `"${CURRENT}"`, CURRENT, "without the quotes"),
  spelt(
    "decoded from hexadecimal, as Adyen does",
    HEX_SECRET,
    Buffer.from(HEX_SECRET, "hex"),
    "decoded from hexadecimal",
  ),
  spelt("in the other case", HEX_SECRET, HEX_SECRET.toUpperCase(), "other case"),
  spelt("decoded from base64", BASE64_SECRET, Buffer.from(BASE64_SECRET, "base64"), "decoded from base64"),
  spelt("without whsec_", WEBHOOK_SECRET, WEBHOOK_SECRET.slice(6), "without what stands before its `_`"),
  spelt(
    "decoded after whsec_",
    WEBHOOK_SECRET,
    Buffer.from(WEBHOOK_SECRET.slice(6), "base64"),
    "decoded from base64",
  ),
  spelt("with whsec_", CURRENT, `whsec_${CURRENT}`, "with `whsec_`"),
  {
    title: "the previous secret with a line break",
    headers: signed(mac(BODY, `${PREVIOUS}\n`)),
    code: "secret_spelling",
    says: "SIGNING_SECRET_PREVIOUS with a line break",
  },
];

const content = (
  title: string,
  headers: RefusedCase["headers"] & object,
  says: string,
  over: Partial<RefusedCase> = {},
): RefusedCase => ({
  title,
  headers,
  code: "other_content",
  says,
  ...over,
});

const CONTENTS: readonly RefusedCase[] = [
  content(
    "Stripe's signature",
    { "stripe-signature": `t=${T},v1=${mac(`${T}.${BODY}`)}` },
    "as Stripe signs",
  ),
  content("Stripe's signature in our header", signed(`t=${T},v1=${mac(`${T}.${BODY}`)}`), "as Stripe signs"),
  content(
    "a signed X-Timestamp",
    { ...signed(mac(`${T}.${BODY}`)), "x-timestamp": T },
    "timestamp, a dot and the body",
  ),
  content(
    "Slack's signature",
    { "x-slack-signature": `v0=${mac(`v0:${T}:${BODY}`)}`, "x-slack-request-timestamp": T },
    "as Slack and Zoom sign",
  ),
  content(
    "Zoom's signature",
    { "x-zm-signature": `v0=${mac(`v0:${T}:${BODY}`)}`, "x-zm-request-timestamp": T },
    "as Slack and Zoom sign",
  ),
  content(
    "Paddle's signature",
    { "paddle-signature": `ts=${T};h1=${mac(`${T}:${BODY}`)}` },
    "as Paddle signs",
  ),
  content(
    "Square's signature",
    { "x-square-hmacsha256-signature": mac(URL_CALLED + BODY, CURRENT, "sha256", "base64") },
    "as Square signs",
  ),
  content(
    "HubSpot's signature",
    {
      "x-hubspot-signature-v3": mac(`POST${URL_CALLED}${BODY}${T}000`, CURRENT, "sha256", "base64"),
      "x-hubspot-request-timestamp": `${T}000`,
    },
    "as HubSpot signs",
  ),
  content(
    "a real signature of Standard Webhooks",
    {
      "webhook-id": "msg_1",
      "webhook-timestamp": T,
      "webhook-signature": new Webhook(WEBHOOK_SECRET).sign("msg_1", new Date(Number(T) * 1_000), BODY),
    },
    "as Standard Webhooks has it",
    { accepted: [WEBHOOK_SECRET] },
  ),
  content(
    "the hash of the body",
    signed(mac(createHash("sha256").update(BODY).digest("hex"))),
    "SHA-256 of the body",
  ),
  content("the data alone", signed(mac(JSON.stringify(EVENT.data))), "one of the objects in the body"),
  content("nothing", signed(mac("")), "nothing at all"),
];

export const PLATFORM_CASES = [...HEADERS, ...WRITTEN, ...SECRETS, ...CONTENTS];
