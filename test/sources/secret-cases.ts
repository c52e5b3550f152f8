import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import {
  BASE64_SECRET,
  BODY,
  CURRENT,
  EVENT,
  HEX_SECRET,
  mac,
  PREVIOUS,
  RETIRED,
  type RefusedCase,
  signed,
  T,
  TEST,
  URL_CALLED,
  WEBHOOK_SECRET,
} from "./refused-cases.ts";

const spelt = (title: string, secret: string, key: string | Uint8Array, message: string): RefusedCase => ({
  title,
  accepted: [secret],
  headers: signed(mac(BODY, key)),
  code: "secret_spelling",
  message,
});

const SECRETS: readonly RefusedCase[] = [
  {
    title: "a retired secret",
    headers: signed(mac(BODY, RETIRED)),
    code: "previous_secret",
    message: "`previous-2024`",
  },
  {
    title: "the test environment's secret",
    headers: signed(mac(BODY, TEST)),
    code: "other_environment",
    message: "`test`",
  },
  {
    title: "another environment's secret behind a prefix",
    headers: signed(`sha256=${mac(BODY, TEST)}`),
    code: "other_environment",
    message: "`sha256=` stands before the signature. The signature was made with the secret `test`",
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
    message: "SIGNING_SECRET_PREVIOUS with a line break",
  },
];

const content = (
  title: string,
  headers: RefusedCase["headers"] & object,
  message: string,
  over: Partial<RefusedCase> = {},
): RefusedCase => ({
  title,
  headers,
  code: "other_content",
  message,
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

export const SECRET_CASES = [...SECRETS, ...CONTENTS];
