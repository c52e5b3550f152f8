import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { DiagnosisCode } from "../../../src/domain/index.ts";

export const CURRENT = "the-current-secret-of-32-bytes-or-more";
export const PREVIOUS = "the-secret-before-it-of-32-bytes-long";
export const TEST = "the-secret-of-the-test-environment-32";
export const RETIRED = "a-secret-that-was-retired-long-ago-32";
const HEX_SECRET = "8f742231b10e8888abcd99eeff0011223344556677889900aabbccddeeff0011";
const BASE64_SECRET = Buffer.alloc(32, 0xa5).toString("base64");
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 0x5a).toString("base64")}`;

/** A request that is not authentic, with what its diagnosis must find. */
export interface RefusedCase {
  readonly title: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The accepted secrets; CURRENT and PREVIOUS when left out. */
  readonly accepted?: readonly string[];
  readonly code: DiagnosisCode;
  readonly message: string;
}

const EVENT = {
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
  { algorithm = "sha256", encoding = "hex" as "hex" | "base64" | "base64url" } = {},
) {
  return createHmac(algorithm, key).update(body).digest(encoding);
}

const digits = mac(BODY);

function sent(
  title: string,
  value: string | readonly string[],
  [code, message]: readonly [DiagnosisCode, string],
): RefusedCase {
  return { title, headers: { "x-signature": value }, code, message };
}

const HEADERS: readonly RefusedCase[] = [
  { title: "no signature", headers: {}, code: "missing", message: "The request has no `X-Signature`" },
  sent("an empty header", "", ["missing", "`X-Signature` is empty."]),
  sent("the header twice", [digits, digits], ["repeated", "stands 2 times, expected once. The digest itself is"]),
  sent("two signatures in one header", `${digits}, ${digits}`, ["repeated", "holds 2 signatures."]),
  {
    title: "GitHub's header",
    headers: { "x-hub-signature-256": `sha256=${digits}` },
    code: "other_header",
    message: "`X-Hub-Signature-256`, as GitHub and Meta send it. `sha256=` precedes the signature. The digest",
  },
  {
    title: "Shopify's header",
    headers: { "x-shopify-hmac-sha256": mac(BODY, CURRENT, { encoding: "base64" }) },
    code: "other_header",
    message: "in base64, expected hexadecimal. The digest itself is correct.",
  },
  {
    title: "PayPal's header",
    headers: { "paypal-transmission-sig": "c2lnbmF0dXJl" },
    code: "other_header",
    message: "`Paypal-Transmission-Sig`, as PayPal sends it, made with a private key.",
  },
  sent("upper case", digits.toUpperCase(), [
    "encoding",
    "upper-case hexadecimal, expected lower case. The digest itself is correct.",
  ]),
  sent("base64", mac(BODY, CURRENT, { encoding: "base64" }), ["encoding", "in base64"]),
  sent("base64url", mac(BODY, CURRENT, { encoding: "base64url" }), ["encoding", "in base64"]),
  sent("sha256=", `sha256=${digits}`, ["prefix", "`sha256=` precedes the signature. The digest itself is correct."]),
  sent("v1=", `v1=${digits}`, ["prefix", "`v1=`"]),
  sent("an unknown prefix", `MyShop=${digits}`, ["prefix", "Other text surrounds the signature."]),
  sent("quotes", `"${digits}"`, ["prefix", "Other text surrounds the signature."]),
  sent("Stripe's format over the body alone", `t=${T},v1=${digits}`, ["prefix", "`v1=` precedes"]),
  sent("no digest", "let-me-in", ["malformed", "expected 64 lowercase hexadecimal digits."]),
  sent("a digest that was cut", digits.slice(0, 50), ["malformed", "It holds 50 hexadecimal digits."]),
  sent("HMAC-SHA1", mac(BODY, CURRENT, { algorithm: "sha1" }), [
    "malformed",
    "40 hexadecimal digits, as HMAC-SHA1 has",
  ]),
];

const NONE = "signed with a secret that this receiver does not have";
const key = (title: string, secret: string, used: string | Uint8Array, message: string): RefusedCase => ({
  ...sent(title, mac(BODY, used), ["secret_format", message]),
  accepted: [secret],
});

const SECRETS: readonly RefusedCase[] = [
  sent("a retired secret", mac(BODY, RETIRED), ["previous_secret", "`previous-2024`"]),
  sent("the test environment's secret", mac(BODY, TEST), ["other_environment", "`test`"]),
  sent("the test environment's secret after a prefix", `sha256=${mac(BODY, TEST)}`, [
    "other_environment",
    "`sha256=` precedes the signature. The signature was made with the secret `test`",
  ]),
  sent("an unknown secret", mac(BODY, "q".repeat(32)), ["unknown", NONE]),
  sent("a stranger's digest after a prefix", `sha256=${"0".repeat(64)}`, ["unknown", `\`sha256=\` precedes`]),
  key("a line break after the secret", CURRENT, `${CURRENT}\n`, "SIGNING_SECRET with a line break after it"),
  key("quotes around the secret", CURRENT, `"${CURRENT}"`, "with quotes around it"),
  key("quotes around the secret here", `"${CURRENT}"`, CURRENT, "without its quotes"),
  key("a secret in hexadecimal", HEX_SECRET, Buffer.from(HEX_SECRET, "hex"), "decoded from hexadecimal"),
  key("a secret in base64", BASE64_SECRET, Buffer.from(BASE64_SECRET, "base64"), "decoded from base64"),
  key("a secret without whsec_", WEBHOOK_SECRET, WEBHOOK_SECRET.slice(6), "without `whsec_`"),
  key("a secret with whsec_", CURRENT, `whsec_${CURRENT}`, "with `whsec_` before it"),
  sent("the previous secret with a line break", mac(BODY, `${PREVIOUS}\r\n`), [
    "secret_format",
    "SIGNING_SECRET_PREVIOUS with a line break (CRLF)",
  ]),
];

const joined = (title: string, headers: RefusedCase["headers"] & object, message: string): RefusedCase => ({
  title,
  headers,
  code: "other_content",
  message,
});

const TIMESTAMPS: readonly RefusedCase[] = [
  joined("Stripe's signature", { "stripe-signature": `t=${T},v1=${mac(`${T}.${BODY}`)}` }, "as Stripe signs"),
  joined("Stripe's format in X-Signature", { "x-signature": `t=${T},v1=${mac(`${T}.${BODY}`)}` }, "as Stripe signs"),
  joined("a signed X-Timestamp", { "x-signature": mac(`${T}.${BODY}`), "x-timestamp": T }, "timestamp, a dot"),
  joined("a timestamp without a mark", { "x-signature": mac(T + BODY), "x-timestamp": T }, "followed by the body"),
  joined(
    "Slack's signature",
    { "x-slack-signature": `v0=${mac(`v0:${T}:${BODY}`)}`, "x-slack-request-timestamp": T },
    "as Slack and Zoom sign",
  ),
  joined("Paddle's signature", { "paddle-signature": `ts=${T};h1=${mac(`${T}:${BODY}`)}` }, "as Paddle signs"),
  {
    ...joined(
      "a signature of Standard Webhooks",
      {
        "webhook-id": "msg_1",
        "webhook-timestamp": T,
        "webhook-signature": new Webhook(WEBHOOK_SECRET).sign("msg_1", new Date(Number(T) * 1_000), BODY),
      },
      "as Standard Webhooks signs",
    ),
    accepted: [WEBHOOK_SECRET],
  },
];

const indented = JSON.stringify(EVENT, null, 2);
const python = BODY.replaceAll('":', '": ').replaceAll(',"', ', "');
const ascii = (text: string) =>
  text.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
const slashed = (text: string) => text.replaceAll("/", "\\/");
const changed = (
  title: string,
  [signed, arrived]: readonly [string, string | Uint8Array],
  message: string,
  code: DiagnosisCode = "body_changed",
): RefusedCase => ({ ...sent(title, mac(signed), [code, message]), body: arrived });

const long = JSON.stringify({ ...EVENT, data: { text: "x".repeat(5_000) } });
const BODIES: readonly RefusedCase[] = [
  changed("Python's JSON, then compact", [python, BODY], "as Python does"),
  changed("Python's JSON in ASCII, then compact", [ascii(python), BODY], "\\uXXXX escapes, as Python does"),
  changed("compact, then Python's JSON", [BODY, python], "without spaces"),
  changed("an indent of two, then compact", [indented, BODY], "indent of two spaces"),
  changed("compact, then an indent of two", [BODY, indented], "without spaces"),
  changed("PHP's JSON, then compact", [slashed(ascii(BODY)), BODY], "\\/ and \\uXXXX escapes, as PHP does"),
  changed("PHP's escaped slashes, then compact", [slashed(BODY), BODY], "\\/ for each slash"),
  changed("compact, then PHP's JSON", [BODY, slashed(ascii(BODY))], "without spaces"),
  changed("escapes, then compact", [ascii(BODY), BODY], "as JSON with \\uXXXX escapes"),
  changed("a final line break that was removed", [`${BODY}\n`, BODY], "with a line break at its end"),
  changed("a final CRLF that was removed", [`${BODY}\r\n`, BODY], "with a line break (CRLF) at its end"),
  changed("a final line break that was added", [BODY, `${BODY}\n`], "without the white space at its end"),
  changed("CRLF that became LF", [indented.replaceAll("\n", "\r\n"), indented], "with CRLF line breaks"),
  changed("LF that became CRLF", [indented, indented.replaceAll("\n", "\r\n")], "with LF line breaks"),
  changed("a byte order mark that was added", [BODY, `\ufeff${BODY}`], "without its byte order mark"),
  changed("a byte order mark that was removed", [`\ufeff${BODY}`, BODY], "with a byte order mark"),
  changed("a body that was cut in a string", [long, long.slice(0, 4_096)], "after 4096 bytes.", "truncated"),
  changed("a body that was cut in a word", ['{"a":true}', '{"a":tr'], "after 7 bytes.", "truncated"),
  changed("a body that was cut after a value", ['{"a":{"b":1}}', '{"a":{"b":1}'], "after 12 bytes.", "truncated"),
  changed("a body that was lost", [BODY, ""], "The body is empty.", "truncated"),
  changed("an amount that was changed", [BODY, BODY.replace("49.9", "9949.9")], NONE, "unknown"),
  changed("a form", [BODY, "a=b&c=d"], NONE, "unknown"),
];

/** Every way to be refused for a signature that a diagnosis must find. */
export const REFUSED_CASES = [...HEADERS, ...SECRETS, ...TIMESTAMPS, ...BODIES];
