import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { SignJWT } from "jose";
import { type SignedRequest, type SourceDefinition, signSample } from "../../src/sources/index.ts";
import {
  antom,
  flutterwave,
  fusionauth,
  gitlab,
  meta,
  PRESETS,
  revenuecat,
  whatsapp,
} from "../../src/sources/platforms/index.ts";
import { requestOf } from "./contract.ts";
import { PRESET_NOW, PRESET_ORIGIN } from "./preset.ts";

/** A platform that signs with one of several secrets. */
export interface PresetSender {
  readonly source: (secrets: readonly string[]) => SourceDefinition;
  /** Four of the shape that the platform shows. */
  readonly secrets: readonly string[];
  /** Signed with the secret at that place. */
  readonly callback: (place: number) => SignedRequest | Promise<SignedRequest>;
  /** The same over any bytes, or why another body has the same signature. */
  readonly bytes: string | ((place: number, body: Uint8Array) => SignedRequest | Promise<SignedRequest>);
  /** False for public keys: a PEM text ends in a newline. */
  readonly isText?: false;
}

const PATH = "/api/source/callback";
const ADDRESS = PRESET_ORIGIN + PATH;
const SECONDS = String(PRESET_NOW.getTime() / 1_000);
const PLACES = [0, 1, 2, 3] as const;
/** Base64 of 48 bytes, as long as the longest secret that a platform asks for. */
const TEXTS = PLACES.map((place) => Buffer.alloc(48, `secret ${place}`).toString("base64"));
const HEX = PLACES.map((place) => Buffer.alloc(32, `secret ${place}`).toString("hex"));
const BODY = Buffer.from('{"id":"evt_1"}');

const digest = (algorithm: string, key: string | Buffer, text: string) => createHmac(algorithm, key).update(text);

/** What Lark signs beside the body. */
const HEADERS = { "X-Lark-Request-Timestamp": SECONDS, "X-Lark-Request-Nonce": "nonce" };

type PresetName = keyof typeof PRESETS;

function signs(name: PresetName): string {
  const [first] = [PRESETS[name].describe().signs].flat();
  return typeof first === "string" ? first : "";
}

/** Where a token says who sent a callback, the preset says so of itself. */
function unsignedReason(name: PresetName): string | undefined {
  return signs(name).startsWith("nothing:") ? `the platform signs ${signs(name)}` : undefined;
}

/**
 * One whose preset can sign any bytes as the platform does.
 * @param unsigned why a token that it sends says nothing of the bytes
 */
function signing(
  preset: (secret: string | readonly string[]) => SourceDefinition,
  { secrets = TEXTS, unsigned }: { secrets?: readonly string[]; unsigned?: string | undefined } = {},
): PresetSender {
  const bytes = (place: number, raw: Uint8Array) => {
    const at = {
      source: "source",
      type: "task.changed",
      now: PRESET_NOW,
      url: new URL(ADDRESS),
      origin: PRESET_ORIGIN,
    };
    const { headers, body } = signSample(preset(secrets[place] as string), { ...at, raw, headers: HEADERS });
    return requestOf(body, { headers, target: PATH });
  };
  return { source: preset, secrets, callback: (place) => bytes(place, BODY), bytes: unsigned ?? bytes };
}

interface Pairs {
  readonly pair: () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly shown: (key: KeyObject) => string;
  readonly source: PresetSender["source"];
  readonly headers: (body: Buffer, by: (text: Buffer | string) => Buffer) => Record<string, string>;
  /** Null for Ed25519, which has its own. */
  readonly hash: "sha256" | null;
}

/** One that signs with a private key. */
function ofPairs({ pair, shown, source, headers, hash }: Pairs): PresetSender {
  const pairs = PLACES.map(pair);
  const bytes = (place: number, body: Uint8Array) => {
    const { privateKey } = pairs[place] as ReturnType<Pairs["pair"]>;
    const by = (text: Buffer | string) => sign(hash, Buffer.from(text as string), privateKey);
    return requestOf(body, { headers: headers(Buffer.from(body), by), target: PATH });
  };
  const secrets = pairs.map(({ publicKey }) => shown(publicKey));
  return { source, secrets, callback: (place) => bytes(place, BODY), bytes, isText: false };
}

const spki = (key: KeyObject) => key.export({ format: "der", type: "spki" });
const pem = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();
const rsa = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ed25519 = () => generateKeyPairSync("ed25519");
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

function adyenItem(key: string): object {
  const item = {
    pspReference: "7914073381342284",
    merchantAccountCode: "Shop",
    merchantReference: "order-1",
    amount: { value: 1_130, currency: "EUR" },
    eventCode: "AUTHORISATION",
    success: "true",
  };
  const text = "7914073381342284::Shop:order-1:1130:EUR:AUTHORISATION:true";
  const hmacSignature = digest("sha256", Buffer.from(key, "hex"), text).digest("base64");
  return { ...item, additionalData: { hmacSignature } };
}

const byName = (name: PresetName) => (secret: string | readonly string[]) => PRESETS[name]({ secret });
const secretAt = (place: number, secrets: readonly string[] = TEXTS) => secrets[place] as string;

/** One that signs a part of the body, or shows its secret in it. */
function partly(
  name: PresetName,
  callback: (secret: string) => SignedRequest | Promise<SignedRequest>,
  secrets = TEXTS,
): PresetSender {
  const bytes = `the platform signs ${signs(name)}`;
  return { source: byName(name), secrets, callback: (place) => callback(secretAt(place, secrets)), bytes };
}

const stated = (clientState: string) => requestOf({ value: [{ clientState, changeType: "updated" }] });

const FUSIONAUTH_HEADER = "X-FusionAuth-Signature-JWT";
const bodyClaim = (body: Uint8Array) => ({
  request_body_sha256: createHash("sha256").update(body).digest("base64"),
});

async function fusionauthBytes(place: number, body: Uint8Array): Promise<SignedRequest> {
  const token = new SignJWT(bodyClaim(body)).setProtectedHeader({ alg: "HS256" });
  return requestOf(body, {
    headers: { [FUSIONAUTH_HEADER]: await token.sign(Buffer.from(secretAt(place))) },
  });
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Those whose callbacks are made here by the samples of their documentation. */
const OTHERS = {
  adyen: partly(
    "adyen",
    (secret) =>
      requestOf({
        live: "false",
        notificationItems: [{ NotificationRequestItem: adyenItem(secret) }],
      } as never),
    HEX,
  ),
  discord: ofPairs({
    pair: ed25519,
    shown: (key) => spki(key).subarray(-32).toString("hex"),
    source: byName("discord"),
    hash: null,
    headers: (body, by) => ({
      "X-Signature-Timestamp": SECONDS,
      "X-Signature-Ed25519": by(Buffer.concat([Buffer.from(SECONDS), body])).toString("hex"),
    }),
  }),
  "dropbox-sign": partly("dropbox-sign", (secret) => {
    const signed = { event_time: SECONDS, event_type: "signature_request_sent" };
    const event_hash = digest("sha256", secret, signed.event_time + signed.event_type).digest("hex");
    return requestOf({ event: { ...signed, event_hash } });
  }),
  figma: partly("figma", (passcode) => requestOf({ event_type: "FILE_UPDATE", passcode })),
  fusionauth: {
    source: byName("fusionauth"),
    secrets: TEXTS,
    callback: (place) => fusionauthBytes(place, BODY),
    bytes: fusionauthBytes,
  },
  "fusionauth with a public key": ofPairs({
    pair: rsa,
    shown: pem,
    source: (publicKey) => fusionauth({ publicKey }),
    hash: "sha256",
    headers(body, by) {
      const signed = `${base64url({ alg: "RS256" })}.${base64url(bodyClaim(body))}`;
      return { [FUSIONAUTH_HEADER]: `${signed}.${by(signed).toString("base64url")}` };
    },
  }),
  mailgun: partly("mailgun", (secret) => {
    const token = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0";
    const signature = digest("sha256", secret, SECONDS + token).digest("hex");
    return requestOf({ signature: { timestamp: SECONDS, token, signature } });
  }),
  "microsoft-graph": partly("microsoft-graph", stated),
  monday: partly("monday", async (secret) => {
    const claims = new SignJWT({ aud: ADDRESS, exp: PRESET_NOW.getTime() / 1_000 + 300 });
    const token = await claims.setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(secret));
    return requestOf({}, { headers: { Authorization: token }, target: PATH });
  }),
  sendgrid: ofPairs({
    pair: p256,
    shown: (key) => spki(key).toString("base64"),
    source: byName("sendgrid"),
    hash: "sha256",
    headers: (body, by) => ({
      "X-Twilio-Email-Event-Webhook-Timestamp": SECONDS,
      "X-Twilio-Email-Event-Webhook-Signature": by(Buffer.concat([Buffer.from(SECONDS), body])).toString("base64"),
    }),
  }),
  sharepoint: partly("sharepoint", stated),
  telnyx: ofPairs({
    pair: ed25519,
    shown: (key) => spki(key).subarray(-32).toString("base64"),
    source: byName("telnyx"),
    hash: null,
    headers: (body, by) => ({
      "Telnyx-Timestamp": SECONDS,
      "Telnyx-Signature-Ed25519": by(Buffer.concat([Buffer.from(`${SECONDS}|`), body])).toString("base64"),
    }),
  }),
  twilio: twilioSender("twilio"),
  "twilio-events": twilioSender("twilio-events"),
  wise: ofPairs({
    pair: rsa,
    shown: pem,
    source: byName("wise"),
    hash: "sha256",
    headers: (body, by) => ({ "X-Signature-SHA256": by(body).toString("base64") }),
  }),
  antom: ofPairs({
    pair: rsa,
    shown: (key) => spki(key).toString("base64"),
    source: (publicKey) => antom({ publicKey }),
    hash: "sha256",
    headers(body, by) {
      const time = PRESET_NOW.toISOString();
      const signature = by(Buffer.concat([Buffer.from(`POST ${PATH}\nclient.${time}.`), body])).toString("base64");
      const fields = `algorithm=RSA256,keyVersion=1,signature=${encodeURIComponent(signature)}`;
      return { "Client-Id": "client", "Request-Time": time, Signature: fields };
    },
  }),
} satisfies Record<string, PresetSender>;

/** The body is not signed itself: its hash stands in the address that is. */
function twilioSender(name: "twilio" | "twilio-events"): PresetSender {
  const bytes = (place: number, body: Uint8Array) => {
    const target = `${PATH}?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
    const signature = digest("sha1", secretAt(place), PRESET_ORIGIN + target).digest("base64");
    const headers = { "X-Twilio-Signature": signature, "Content-Type": "application/json" };
    return requestOf(body, { headers, target });
  };
  return { source: byName(name), secrets: TEXTS, callback: (place) => bytes(place, BODY), bytes };
}

const ofEnvironment = (Object.keys(PRESETS) as PresetName[])
  .filter((name) => !(name in OTHERS))
  .map((name): [string, PresetSender] => {
    const secrets = name === "adyen-platform" ? HEX : TEXTS;
    return [name, signing(byName(name), { secrets, unsigned: unsignedReason(name) })];
  });
const verifyToken = "a verify token";

/** Every preset whose secret is a text. interop/ has those that need more: keys with ids, certificates, addresses. */
export const PRESET_SENDERS: readonly (readonly [string, PresetSender])[] = [
  ...ofEnvironment,
  ...Object.entries(OTHERS),
  [
    "flutterwave with a token",
    signing((secret) => flutterwave({ secret, verify: "token" }), {
      unsigned: "the platform signs nothing: a fixed token in `verif-hash`",
    }),
  ],
  ["gitlab with a signing token", signing((secret) => gitlab({ secret, verify: "signature" }))],
  ["meta", signing((secret) => meta({ secret, verifyToken }))],
  ["revenuecat with signing enabled", signing((secret) => revenuecat({ secret, verify: "signature" }))],
  ["whatsapp", signing((secret) => whatsapp({ secret, verifyToken }))],
];
