import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { ebay } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

/** The key of `VALID` in test/test.json of event-notification-nodejs-sdk, and what is signed with it. */
const PUBLISHED = {
  kid: "9936261a-7d7b-4621-a0f1-96ccb428af49",
  key: "-----BEGIN PUBLIC KEY-----MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZhhxXKtR+TOvtDbgTPCkSof02qgBB7IsYOyf76ilExJ/upAa/vKIKheOoCyOpcLmi4t0b4uepb7LLjmMr90FUg==-----END PUBLIC KEY-----",
  signature:
    "eyJhbGciOiJlY2RzYSIsImtpZCI6Ijk5MzYyNjFhLTdkN2ItNDYyMS1hMGYxLTk2Y2NiNDI4YWY0OSIsInNpZ25hdHVyZSI6Ik1FWUNJUUNmeGZJV3V4bVdjSUJRSjljNS9YN2lHREpxczJSQ0dzQkVhQWppbnlycmZBSWhBSVY2d0djVGlCdVY1S0pVaWYyaG9reXJMK1E5c3NIa2FkK214Mm5FRTI1dyIsImRpZ2VzdCI6IlNIQTEifQ==",
  message: {
    metadata: { topic: "MARKETPLACE_ACCOUNT_DELETION", schemaVersion: "1.0", deprecated: false },
    notification: {
      notificationId: "49feeaeb-4982-42d9-a377-9645b8479411_33f7e043-fed8-442b-9d44-791923bd9a6d",
      eventDate: "2021-03-19T20:43:59.462Z",
      publishDate: "2021-03-19T20:43:59.679Z",
      publishAttemptCount: 1,
      data: {
        username: "test_user",
        userId: "ma8vp1jySJC",
        eiasToken: "nY+sHZ2PrBmdj6wVnY+sEZ2PrA2dj6wJnY+gAZGEpwmdj6x9nY+seQ==",
      },
    },
  },
};

const TOKEN = "a-verification-token-of-32-letters-or-more";

function pair(id: string) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { id, privateKey, text: publicKey.export({ type: "spki", format: "pem" }).toString() };
}

const PAIRS = [pair("key-1"), pair("key-2"), pair("key-3")] as const;
const TEXTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PAIRS.map(({ id, text }) => [id, text])),
  [PUBLISHED.kid]: PUBLISHED.key,
};

/** Here a secret is the id of the key that signs; no other key is to be had. */
export const ebayProof: PlatformProof = {
  preset: "ebay",
  by: "the vector of event-notification-nodejs-sdk, test/test.json",
  secrets: [PAIRS[0].id, PAIRS[1].id, PAIRS[2].id],
  source: (secrets) =>
    ebay({
      verificationToken: TOKEN,
      publicKeys: Object.fromEntries([...secrets].map((id) => [id, TEXTS[id] ?? ""])),
    }),
  callback({ secret, id }) {
    const { metadata, notification } = PUBLISHED.message;
    const body = Buffer.from(JSON.stringify({ metadata, notification: { ...notification, notificationId: id } }));
    const key = PAIRS.find((one) => one.id === secret) ?? PAIRS[0];
    const signature = sign("sha1", body, key.privateKey).toString("base64");
    const header = JSON.stringify({ alg: "ecdsa", kid: key.id, signature, digest: "SHA1" });
    return {
      headers: { "x-ebay-signature": Buffer.from(header).toString("base64") },
      body,
    };
  },
  vector: () => ({
    secret: PUBLISHED.kid,
    now: new Date("2021-03-19T20:44:00Z"),
    request: {
      headers: { "x-ebay-signature": PUBLISHED.signature },
      body: Buffer.from(JSON.stringify(PUBLISHED.message)),
    },
  }),
  toleranceSeconds: null,
  handshakes: [
    {
      title: "the challenge of a new address",
      request: () => ({
        method: "GET",
        query: "?challenge_code=a8628072",
        headers: {},
        body: Buffer.of(),
      }),
      response: {
        status: 200,
        body: JSON.stringify({
          challengeResponse: createHash("sha256")
            .update("a8628072")
            .update(TOKEN)
            .update("https://callbacks.example/api/ebay/callback")
            .digest("hex"),
        }),
      },
    },
  ],
};
