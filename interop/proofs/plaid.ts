import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { plaid } from "../../src/sources/platforms/index.ts";
import { startKeyServer } from "../key-server.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

const secrets = [
  "f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1",
  "f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2",
  "f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3",
] as const;
/**
 * What Plaid's sandbox sent in 2021, as tylerwray/elixir-plaid has it in test/plaid/webhooks_test.exs, and Plaid's key,
 * as simonmittag/mse6 has it in server.go. Tests of Plaid's own SDKs ask for that key (plaid-java,
 * WebhookVerificationKeyGetTest), and two more webhooks in public repositories verify with it.
 */
const PUBLISHED = {
  key: {
    alg: "ES256",
    created_at: 1_560_466_143,
    crv: "P-256",
    expired_at: null,
    kid: "6c5516e1-92dc-479e-a8ff-5a51992e0001",
    kty: "EC",
    use: "sig",
    x: "35lvC8uz2QrWpQJ3TUH8t9o9DURMp7ydU518RKDl20k",
    y: "I8BuXB2bvxelzJAd7OKhd-ZwjCst05Fx47Mb_0ugros",
  },
  token: [
    "eyJhbGciOiJFUzI1NiIsImtpZCI6IjZjNTUxNmUxLTkyZGMtNDc5ZS1hOGZmLTVhNTE5OTJlMDAwMSIsInR5cCI6IkpXVCJ9",
    "eyJpYXQiOjE2MTQ1Nzg2MTcsInJlcXVlc3RfYm9keV9zaGEyNTYiOiIyM2JhM2IxNzcwMjk0ZWVlYWJhM2JmZjc1NTdjNjJlZDZkNmU4MzMzYjZkMmFmZjcyNDIxMWI0N2FkYjVhYWYyIn0",
    "TClT2hrFCjlQSc3WbQ0GpBdwjP9InvTXaMfDYbtFJTlKXua_3tejuuHm4NzYQtCV-lXJ4fub3kLoQFkfi234_Q",
  ].join("."),
  body: {
    error: null,
    item_id: "lvMEnMo5m9ivMdZeemZVtJP8zGXVJDiLPKkEp",
    new_transactions: 0,
    webhook_code: "DEFAULT_UPDATE",
    webhook_type: "TRANSACTIONS",
  },
};

const CLIENT_ID = "61e0ab1c2f3d4e0013c5a6b7";

/** Each account's own key, by its secret. */
const keys = new Map(
  await Promise.all(
    secrets.map(async (secret, index) => {
      const pair = await generateKeyPair("ES256", { extractable: true });
      const jwk = { ...(await exportJWK(pair.publicKey)), kid: `key-${index}`, alg: "ES256", use: "sig" };
      return [secret, { ...pair, jwk }] as const;
    }),
  ),
);
let origin = "";

/** Plaid's API, as plaid.com/docs/api/webhooks/webhook-verification describes it. */
const start = () =>
  startKeyServer(
    async (request, response) => {
      const { client_id, secret, key_id } = JSON.parse(await text(request));
      const jwk = keys.get(secret)?.jwk;
      const isRight = request.method === "POST" && request.url === "/webhook_verification_key/get";
      if (!isRight || client_id !== CLIENT_ID || jwk === undefined) {
        response.writeHead(400).end('{"error_type":"INVALID_INPUT","error_code":"INVALID_API_KEYS"}');
      } else if (key_id === PUBLISHED.key.kid) {
        response.end(JSON.stringify({ key: PUBLISHED.key }));
      } else if (key_id !== jwk.kid) {
        response.writeHead(400).end('{"error_code":"INVALID_WEBHOOK_VERIFICATION_KEY_ID"}');
      } else {
        response.end(JSON.stringify({ key: { ...jwk, created_at: 1_560_466_143, expired_at: null } }));
      }
    },
    (address) => {
      origin = address;
    },
  );

async function signed(body: Uint8Array, { secret, now }: ProofEvent): Promise<ProofRequest> {
  const key = keys.get(secret as (typeof secrets)[number]);
  if (key === undefined) throw new Error("no such account");
  const request_body_sha256 = createHash("sha256").update(body).digest("hex");
  const token = await new SignJWT({ iat: Math.floor(now.getTime() / 1000), request_body_sha256 })
    .setProtectedHeader({ alg: "ES256", kid: key.jwk.kid, typ: "JWT" })
    .sign(key.privateKey);
  return { headers: { "plaid-verification": token, "content-type": "application/json" }, body };
}

export const plaidProof: PlatformProof = {
  preset: "plaid",
  by: "a webhook of Plaid's sandbox with Plaid's key, both published; no SDK of Plaid verifies",
  secrets,
  start,
  source: (secret) => plaid({ secret, clientId: CLIENT_ID, apiUrl: origin }),
  signed,
  callback(event) {
    const body = { webhook_type: "TRANSACTIONS", webhook_code: "SYNC_UPDATES_AVAILABLE", item_id: event.id };
    return signed(Buffer.from(JSON.stringify(body)), event);
  },
  vector: () => ({
    secret: secrets[0],
    now: new Date(1_614_578_620_000),
    request: {
      headers: { "plaid-verification": PUBLISHED.token },
      body: Buffer.from(JSON.stringify(PUBLISHED.body, undefined, 2)),
    },
  }),
  toleranceSeconds: null,
  rotates: false,
};
