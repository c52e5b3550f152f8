import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
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
  readonly message: string;
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
export const T = "1767225300";

export function mac(
  body: string | Uint8Array,
  key: string | Uint8Array = CURRENT,
  algorithm = "sha256",
  encoding: Encoding = "hex",
) {
  return createHmac(algorithm, key).update(body).digest(encoding);
}

const digits = mac(BODY);
export const signed = (value: string) => ({ "x-signature": value });
const written = (title: string, value: string, code: DiagnosisCode, message: string): RefusedCase => ({
  title,
  headers: signed(value),
  code,
  message,
});

const HEADERS: readonly RefusedCase[] = [
  { title: "no signature", headers: {}, code: "missing", message: "There is no X-Signature" },
  { title: "an empty header", headers: signed(""), code: "empty", message: "empty" },
  {
    title: "the header twice",
    headers: { "x-signature": [digits, digits] },
    code: "repeated",
    message: "stands in the request 2 times. Otherwise it is right.",
  },
  {
    title: "the header twice, joined by a proxy",
    headers: { "x-signature": `${digits}, ${digits}` },
    code: "repeated",
    message: "several values with commas between. Otherwise it is right.",
  },
  {
    title: "GitHub's header",
    headers: { "x-hub-signature-256": `sha256=${digits}` },
    code: "other_header",
    message:
      "X-Hub-Signature-256 is there, as GitHub and Meta send it. `sha256=` stands before the signature. Otherwise it is right.",
  },
  {
    title: "Shopify's header",
    headers: { "x-shopify-hmac-sha256": mac(BODY, CURRENT, "sha256", "base64") },
    code: "other_header",
    message: "The signature is in base64. Otherwise it is right.",
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
    message: "private key (Ed25519)",
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

export const WRITING_CASES = [...HEADERS, ...WRITTEN];
