import { createCipheriv, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SampleCallback } from "../../../src/sources/contract/sample.ts";
import { moreThanSecret, PRESET_NAMES, type SourceDefinition } from "../../../src/sources/index.ts";
import * as presets from "../../../src/sources/platforms/index.ts";
import { FUNCTIONS_WITH_OPTIONS } from "../../../src/sources/platforms/names.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { openPreset, PRESET_NOW, PRESET_ORIGIN } from "../../support/preset.ts";
import documented from "../platforms/platform-retries.json" with { type: "json" };

const { meta, PRESETS, tiktokShop, whatsapp } = presets;
/** Those whose retries the table has, and a receiver gets. */
const DOCUMENTED = new Set(documented.map(({ preset }) => preset));
const TARGET = "/base/api/source/callback";
const TYPES: Readonly<Record<string, string>> = {
  airtable: "notification",
  asana: "task.changed",
  "customer-io": "email.sent",
  "dropbox-sign": "signature_request_signed",
  gocardless: "payments.confirmed",
  meta: "page.feed",
  retell: "call_ended",
  xero: "INVOICE.UPDATE",
};
const LONG_SECRET = "c2VjcmV0".repeat(8);
const HEX = "ab".repeat(32);
const SECRETS: Readonly<Record<string, string>> = { adyen: HEX };
const of = { secret: LONG_SECRET, verifyToken: "a verify token" };
const spki = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ format: "der", type: "spki" });
const pem = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ format: "pem", type: "spki" }).toString();
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync("ed25519");
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const PLACES = { id: "body.id", type: "body.type" };
/** Their tests verify callbacks; here their contracts read them. */
const KEYED: readonly [string, SourceDefinition][] = [
  ["discord", presets.discord({ publicKey: spki(ed25519).subarray(-32).toString("hex") })],
  ["sendgrid", presets.sendgrid({ publicKey: spki(p256).toString("base64") })],
  ["telnyx", presets.telnyx({ publicKey: spki(ed25519).subarray(-32).toString("base64") })],
  ["twilio-events", presets.twilioEvents({ secret: LONG_SECRET })],
  ["alipay", presets.alipay({ publicKey: pem(rsa) })],
  ["aws-sns", presets.awsSns({ topics: "arn:aws:sns:us-east-1:123456789012:orders" })],
  ["ebay", presets.ebay({ clientId: "id", clientSecret: "s3cret", verificationToken: "v".repeat(32) })],
  ["livekit", presets.livekit({ secret: LONG_SECRET, apiKey: "APIkey" })],
  ["custom", presets.custom({ ...PLACES, verify: () => true })],
  ["token", presets.token({ ...PLACES, secret: "current", header: "X-Token" })],
  [
    "hmac",
    presets.hmac({
      ...PLACES,
      secret: "s",
      signature: { header: "X-Sign", encoding: "hex" },
      signed: "{body}",
    }),
  ],
  [
    "public-key",
    presets.publicKey({
      ...PLACES,
      publicKey: pem(ed25519),
      algorithm: "ed25519",
      signature: { header: "X-Sign", encoding: "base64" },
      signed: "{body}",
    }),
  ],
  [
    "message-signatures",
    presets.messageSignatures({ ...PLACES, keys: [{ id: "k", algorithm: "ed25519", key: pem(ed25519) }] }),
  ],
];
const definitions: [string, SourceDefinition][] = [
  ...Object.entries(PRESETS).flatMap(([name, preset]): [string, SourceDefinition][] =>
    DOCUMENTED.has(name) || KEYED.some(([keyed]) => keyed === name) || moreThanSecret(name)
      ? []
      : [[name, preset({ secret: SECRETS[name] ?? LONG_SECRET })]],
  ),
  ["meta", meta(of)],
  ["whatsapp", whatsapp(of)],
  ["tiktok-shop", tiktokShop({ secret: LONG_SECRET, appKey: "app_key" })],
  ...KEYED,
];

const sampleOf = (name: string, definition: SourceDefinition, newId: string) =>
  definition.sample({ type: TYPES[name] ?? "thing.happened", newId, now: PRESET_NOW });

/** The keys of a delivery that is signed so many seconds after the event. */
function keysOf(definition: SourceDefinition, sample: SampleCallback, seconds: number): string[] {
  const { scheme, contract } = openPreset(definition);
  const now = new Date(PRESET_NOW.getTime() + seconds * 1_000);
  const { body, headers } = sample;
  const request = { body, headers, method: "POST", target: TARGET, origin: PRESET_ORIGIN, now };
  const signed = requestOf(body, { target: TARGET, headers: { ...headers, ...definition.sign?.(request) } });
  const result = definition.sign === undefined ? undefined : scheme.verify(signed);
  if (result instanceof Promise) throw new Error("a preset of SOURCES verified with a key that it had to fetch");
  if (result !== undefined && !("verified" in result)) throw new Error(JSON.stringify(result));
  return eventsOf(contract, signed, result?.signedText).map(({ eventId }) => eventId);
}

describe.each(definitions)("the key of an event of %s", (name, definition) => {
  const sample = sampleOf(name, definition, "event_of_a_platform_1");

  it(`the event of ${name} keeps its key over a retry`, () => {
    const first = keysOf(definition, sample, 0);
    expect(first).toHaveLength(1);
    expect(keysOf(definition, sample, 60)).toEqual(first);
  });

  it(`two events of ${name} have two keys`, () => {
    const other = sampleOf(name, definition, "event_of_a_platform_2");
    expect(keysOf(definition, other, 0)).not.toEqual(keysOf(definition, sample, 0));
  });
});

type Body = Parameters<typeof requestOf>[0];
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenOf = (claims: object) => `${base64url({ alg: "ES256" })}.${base64url(claims)}.c2lnbmF0dXJl`;
const AES_KEY = "Yue0EfdN5900c1ce5cf6A152c63DDe1808a60c5ecd7";

/** As DingTalk's own library seals it: 16 random bytes, the length, the event and the owner's key, padded to 32. */
function dingtalkBody(event: object): Body {
  const text = Buffer.from(JSON.stringify(event));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const plain = Buffer.concat([randomBytes(16), length, text, Buffer.from("owner")]);
  const pad = 32 - (plain.length % 32);
  const key = Buffer.from(`${AES_KEY}=`, "base64");
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  const sealed = [cipher.update(Buffer.concat([plain, Buffer.alloc(pad, pad)])), cipher.final()];
  return { encrypt: Buffer.concat(sealed).toString("base64") };
}

const WECHAT_KEY = "an APIv3 key has 32 characters..";

function wechatBody(event: number): Body {
  const nonce = randomBytes(6).toString("hex");
  const cipher = createCipheriv("aes-256-gcm", WECHAT_KEY, nonce).setAAD(Buffer.from("transaction"));
  const sealed = [cipher.update(JSON.stringify({ transaction_id: `t${event}` })), cipher.final()];
  const ciphertext = Buffer.concat([...sealed, cipher.getAuthTag()]).toString("base64");
  const resource = { algorithm: "AEAD_AES_256_GCM", ciphertext, associated_data: "transaction", nonce };
  return {
    id: `EV-${event}`,
    create_time: PRESET_NOW.toISOString(),
    event_type: "TRANSACTION.SUCCESS",
    resource,
  };
}

function braintreeBody(event: number): string {
  const xml = `<notification><timestamp type="datetime">2026-06-15T12:00:00Z</timestamp>
    <kind>subscription_went_past_due</kind><subject><subscription><id>s${event}</id></subscription></subject></notification>`;
  const bt_payload = Buffer.from(xml).toString("base64");
  return new URLSearchParams({ bt_signature: "key|signature", bt_payload }).toString();
}

/** Signed or sealed inside the body, which is another one at each attempt. The tests of these presets verify them. */
const SEALED: readonly [string, SourceDefinition, (event: number, attempt: number) => Body][] = [
  [
    "apple-app-store",
    presets.appleAppStore({ bundleId: "com.example.app", appAppleId: 1 }),
    (event, attempt) => ({
      signedPayload: tokenOf({
        notificationType: "TEST",
        notificationUUID: `u${event}`,
        signedDate: PRESET_NOW.getTime() + attempt,
      }),
    }),
  ],
  [
    "braintree",
    presets.braintree({ keys: [{ publicKey: "key", privateKey: "private" }] }),
    (event) => braintreeBody(event),
  ],
  [
    "dingtalk",
    presets.dingtalk({ secret: "token", aesKey: AES_KEY, ownerKey: "owner" }),
    (event) => dingtalkBody({ EventType: "user_add_org", UserId: [`u${event}`], TimeStamp: "1781524800000" }),
  ],
  ["wechat-pay", presets.wechatPay({ secret: WECHAT_KEY, keys: { PUB_KEY_ID_1: pem(rsa) } }), wechatBody],
  [
    "wix",
    presets.wix({ publicKey: pem(rsa) }),
    (event, attempt) => {
      const data = JSON.stringify({ id: `o${event}`, entityFqdn: "wix.ecom.v1.order" });
      return tokenOf({
        data: JSON.stringify({ instanceId: "i", eventType: "wix.ecom.v1.order_created", data }),
        iat: PRESET_NOW.getTime() / 1_000 + attempt,
      });
    },
  ],
];

describe.each(SEALED)("the key of an event of %s", (name, definition, bodyOf) => {
  const keys = (event: number, attempt: number) =>
    eventsOf(openPreset(definition).contract, requestOf(bodyOf(event, attempt), { target: TARGET })).map(
      ({ eventId }) => eventId,
    );

  it(`the event of ${name} keeps its key over a retry, and another event has another key`, () => {
    expect(keys(1, 0)).toHaveLength(1);
    expect(keys(1, 60)).toEqual(keys(1, 0));
    expect(keys(2, 0)).not.toEqual(keys(1, 0));
  });
});

it("each preset stands in a list of keys, or in the table of what platforms vary", () => {
  const names = [...[...definitions, ...SEALED].map(([name]) => name), ...DOCUMENTED];
  const tested = names.map((name) => name.replaceAll("-", "").toLowerCase());
  for (const name of [...PRESET_NAMES, ...FUNCTIONS_WITH_OPTIONS])
    expect(tested).toContain(name.replaceAll("-", "").toLowerCase());
});
