import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { SignJWT } from "jose";
import type { SignedRequest, SourceDefinition } from "../../../src/sources/index.ts";
import * as presets from "../../../src/sources/platforms/index.ts";
import { NOW, ORIGIN, sent } from "../../support/preset-source.ts";

type Sent = NonNullable<Parameters<typeof sent>[1]>;
export interface Tenant {
  /** As the source is given it. */
  readonly secret: string;
  readonly privateKey: ReturnType<typeof pairOf>["privateKey"];
}
export type Secrets = (context: { params: Readonly<Record<string, string>> }) => string | undefined;

const pairOf = () => generateKeyPairSync("ed25519");
const rsaPair = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });
const pem = (pair: Pick<ReturnType<typeof pairOf>, "publicKey">) =>
  pair.publicKey.export({ type: "spki", format: "pem" }).toString();
const keyed = (pair: ReturnType<typeof pairOf>): Tenant => ({
  secret: pem(pair),
  privateKey: pair.privateKey,
});

const [FIRST, SECOND] = [pairOf(), pairOf()];
const SHARED: readonly Tenant[] = ["11".repeat(32), "22".repeat(32)].map((secret) => ({
  secret,
  privateKey: FIRST.privateKey,
}));
const KEYS = [keyed(FIRST), keyed(SECOND)];
const SECONDS = String(NOW.getTime() / 1_000);
const EVENT = { id: "1", type: "order" };
export const PATH = { path: "/hooks/:shop" };
export const PLACES = { id: "body.id", type: "body.type" };
const basic = (secret: string) => `Basic ${Buffer.from(`acme:${secret}`).toString("base64")}`;
const hmac = (algorithm: string, secret: string | Buffer, text: string, encoding: "hex" | "base64") =>
  createHmac(algorithm, secret).update(text).digest(encoding);

interface Case {
  readonly name: string;
  readonly tenants: readonly Tenant[];
  readonly source: (secret: Secrets) => SourceDefinition;
  readonly request: (tenant: Tenant) => SignedRequest | Promise<SignedRequest>;
  readonly mismatch?: string;
}

export const withHeaders = (headers: Sent["headers"]) => sent(EVENT, { ...(headers !== undefined && { headers }) });

const TOKENS: readonly Omit<Case, "mismatch">[] = [
  {
    name: "token",
    tenants: SHARED,
    source: (secret) => presets.token({ ...PATH, ...PLACES, header: "X-Token", secret }),
    request: ({ secret }) => withHeaders({ "X-Token": secret }),
  },
  {
    name: "token, basic authentication",
    tenants: SHARED,
    source: (secret) => presets.token({ ...PATH, ...PLACES, user: "acme", secret }),
    request: ({ secret }) => withHeaders({ Authorization: basic(secret) }),
  },
  {
    name: "gitlab, secret token",
    tenants: SHARED,
    source: (secret) => presets.gitlab({ ...PATH, secret }),
    request: ({ secret }) => withHeaders({ "X-Gitlab-Token": secret }),
  },
  {
    name: "okta",
    tenants: SHARED,
    source: (secret) => presets.okta({ ...PATH, secret }),
    request: ({ secret }) => withHeaders({ Authorization: secret }),
  },
  {
    name: "microsoft-graph",
    tenants: SHARED,
    source: (secret) => presets.microsoftGraph({ ...PATH, secret }),
    request: ({ secret }) => sent({ value: [{ clientState: secret }] }),
  },
];

const SIGNATURES: readonly Case[] = [
  {
    name: "standard-webhooks",
    tenants: SHARED,
    source: (secret) => presets.standardWebhooks({ ...PATH, secret }),
    request({ secret }) {
      const headers = { "webhook-id": "msg_1", "webhook-timestamp": SECONDS };
      const text = `msg_1.${SECONDS}.${JSON.stringify(EVENT)}`;
      const signature = hmac("sha256", Buffer.from(secret, "base64"), text, "base64");
      return withHeaders({ ...headers, "webhook-signature": `v1,${signature}` });
    },
  },
  {
    name: "mailgun",
    tenants: SHARED,
    source: (secret) => presets.mailgun({ ...PATH, secret }),
    request({ secret }) {
      const token = "a".repeat(50);
      const signature = hmac("sha256", secret, SECONDS + token, "hex");
      return sent({ signature: { timestamp: SECONDS, token, signature } });
    },
  },
  {
    name: "dropbox-sign",
    tenants: SHARED,
    source: (secret) => presets.dropboxSign({ ...PATH, secret }),
    request({ secret }) {
      const event_hash = hmac("sha256", secret, `${SECONDS}template_created`, "hex");
      return sent({ event: { event_time: SECONDS, event_type: "template_created", event_hash } });
    },
  },
  {
    name: "adyen",
    tenants: SHARED,
    source: (secret) => presets.adyen({ ...PATH, secret }),
    request({ secret }) {
      const hmacSignature = hmac("sha256", Buffer.from(secret, "hex"), "psp::shop:ref:1:EUR:REFUND:true", "base64");
      const amount = { currency: "EUR", value: 1 };
      const names = { pspReference: "psp", merchantAccountCode: "shop", merchantReference: "ref" };
      const item = {
        ...names,
        amount,
        eventCode: "REFUND",
        success: "true",
        additionalData: { hmacSignature },
      };
      return sent({ notificationItems: [{ NotificationRequestItem: item }] });
    },
  },
  ...[presets.twilio, presets.twilioEvents].map(
    (preset): Case => ({
      name: preset.describe().preset,
      tenants: SHARED,
      source: (secret) => preset({ ...PATH, secret }),
      request({ secret }) {
        const body = JSON.stringify(EVENT);
        const query = `?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
        const signature = hmac("sha1", secret, `${ORIGIN}/api/source/callback${query}`, "base64");
        return sent(body, { query, headers: { "X-Twilio-Signature": signature } });
      },
    }),
  ),
  {
    name: "monday",
    tenants: SHARED,
    mismatch: "jwt_signature",
    source: (secret) => presets.monday({ ...PATH, secret }),
    async request({ secret }) {
      const claims = { aud: `${ORIGIN}/api/source/callback`, exp: Number(SECONDS) + 300 };
      const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(secret));
      return withHeaders({ Authorization: token });
    },
  },
  {
    name: "public-key",
    tenants: KEYS,
    source: (publicKey) =>
      presets.publicKey({
        ...PATH,
        ...PLACES,
        publicKey,
        algorithm: "ed25519",
        signature: { header: "X-Signature", encoding: "base64" },
        signed: "{body}",
      }),
    request: ({ privateKey }) =>
      withHeaders({
        "X-Signature": sign(null, Buffer.from(JSON.stringify(EVENT)), privateKey).toString("base64"),
      }),
  },
  {
    name: "telnyx",
    tenants: KEYS,
    source: (publicKey) => presets.telnyx({ ...PATH, publicKey }),
    request({ privateKey }) {
      const signature = sign(null, Buffer.from(`${SECONDS}|${JSON.stringify(EVENT)}`), privateKey);
      return withHeaders({
        "Telnyx-Timestamp": SECONDS,
        "Telnyx-Signature-Ed25519": signature.toString("base64"),
      });
    },
  },
  {
    name: "alipay",
    tenants: [rsaPair(), rsaPair()].map((pair) => keyed(pair)),
    source: (publicKey) => presets.alipay({ ...PATH, publicKey }),
    request({ privateKey }) {
      const signature = sign("sha256", Buffer.from("notify_id=1"), privateKey).toString("base64");
      return sent(new URLSearchParams({ notify_id: "1", sign: signature, sign_type: "RSA2" }).toString());
    },
  },
  {
    name: "antom",
    tenants: [rsaPair(), rsaPair()].map((pair) => keyed(pair)),
    source: (publicKey) => presets.antom({ ...PATH, publicKey }),
    request({ privateKey }) {
      const text = `POST /api/source/callback\nclient.${SECONDS}.${JSON.stringify(EVENT)}`;
      const signature = encodeURIComponent(sign("sha256", Buffer.from(text), privateKey).toString("base64"));
      const headers = { "Client-Id": "client", "Request-Time": SECONDS };
      return withHeaders({ ...headers, Signature: `algorithm=RSA256,keyVersion=1,signature=${signature}` });
    },
  },
  {
    name: "message-signatures",
    tenants: KEYS,
    source: (secret) =>
      presets.messageSignatures({
        ...PATH,
        ...PLACES,
        required: ["@method"],
        keys: (context) => {
          const key = secret(context);
          return key === undefined ? [] : [{ id: "k", algorithm: "ed25519", key }];
        },
      }),
    request({ privateKey }) {
      const digest = `sha-256=:${createHash("sha256").update(JSON.stringify(EVENT)).digest("base64")}:`;
      const parameters = `("@method" "@path" "content-digest");created=${SECONDS};keyid="k"`;
      const base = [
        '"@method": POST',
        '"@path": /api/source/callback',
        `"content-digest": ${digest}`,
        `"@signature-params": ${parameters}`,
      ].join("\n");
      const signature = sign(null, Buffer.from(base), privateKey).toString("base64");
      const headers = { "Content-Digest": digest, Signature: `a=:${signature}:` };
      return withHeaders({ ...headers, "Signature-Input": `a=${parameters}` });
    },
  },
];

/** A callback of each preset that may have secrets of tenants; the HMAC presets are made alike. */
export const TENANT_CASES: readonly Case[] = [
  ...TOKENS.map((one) => ({ ...one, mismatch: "token_mismatch" })),
  ...SIGNATURES,
];
