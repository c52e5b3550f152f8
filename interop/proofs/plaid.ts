import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { plaid } from "../../src/sources/presets/index.ts";
import { startKeyServer } from "../key-server.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

const secrets = [
  "f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1",
  "f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2",
  "f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3",
] as const;
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
  by: "jose, with the claims and the key endpoint of plaid.com/docs/api/webhooks/webhook-verification",
  secrets,
  start,
  source: (secret) => plaid({ secret, clientId: CLIENT_ID, apiUrl: origin }),
  signed,
  callback(event) {
    const body = { webhook_type: "TRANSACTIONS", webhook_code: "SYNC_UPDATES_AVAILABLE", item_id: event.id };
    return signed(Buffer.from(JSON.stringify(body)), event);
  },
  toleranceSeconds: null,
  rotates: false,
};
