import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createEbayScheme, fetchEbayKey } from "../../../src/sources/platforms/ebay/ebay-scheme.ts";
import { ebay } from "../../../src/sources/platforms/index.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { sent } from "../../support/preset-source.ts";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const BARE = publicKey.export({ type: "spki", format: "der" }).toString("base64");
/** In one line, as eBay has it. */
const KEY = `-----BEGIN PUBLIC KEY-----${BARE}-----END PUBLIC KEY-----`;
const BODY = JSON.stringify({ metadata: { topic: "A" }, notification: { notificationId: "n-1" } });

function callback(over: object = {}, body = BODY) {
  const signature = sign("sha1", Buffer.from(BODY), privateKey).toString("base64");
  const claim = JSON.stringify({ alg: "ecdsa", kid: "key-1", signature, digest: "SHA1", ...over });
  return sent(body, { headers: { "X-EBAY-SIGNATURE": Buffer.from(claim).toString("base64") } });
}

const OPTIONS = {
  clientId: "id",
  clientSecret: "s3cret",
  verificationToken: "a-verification-token-of-32-letters-or-more",
};

describe("the scheme of eBay", () => {
  it("a key is fetched once, and verifies from then on", async () => {
    const asked: string[] = [];
    const scheme = createEbayScheme({
      fetchKey: async (id) => {
        asked.push(id);
        return KEY;
      },
    });
    for (let count = 0; count < 3; count += 1)
      expect(await scheme.verify(callback())).toMatchObject({
        verified: [{ method: "public_key", index: 0 }],
      });
    expect(asked).toEqual(["key-1"]);
  });

  it("a key that cannot be had is our failure, and one that does not exist a refusal", async () => {
    const down = createEbayScheme({ fetchKey: () => Promise.reject(new Error("down")) });
    expect(await down.verify(callback())).toMatchObject({ kind: "failed", code: "keys_unavailable" });
    const none = createEbayScheme({ fetchKey: async () => undefined });
    expect(await none.verify(callback())).toMatchObject({ kind: "refused", code: "signature_mismatch" });
  });

  it.each([
    ["another algorithm", callback({ alg: "none" })],
    ["another digest", callback({ digest: "SHA256" })],
    ["a key id with a path", callback({ kid: "../token" })],
    ["no signature", callback({ signature: undefined })],
    ["a changed body", callback({}, BODY.replace("n-1", "n-2"))],
    ["no header", sent(BODY)],
    ["a header that is no JSON", sent(BODY, { headers: { "X-EBAY-SIGNATURE": "e30" } })],
  ])("a callback with %s is refused", async (_case, request) => {
    const scheme = createEbayScheme({ fetchKey: async () => KEY });
    expect(await scheme.verify(request)).toMatchObject({ kind: "refused" });
  });

  it("the scheme of eBay asks eBay's API for a key with a token of the application", async () => {
    const seen: string[] = [];
    await withHttpServer(
      (request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
        const isToken = request.url?.endsWith("/token") === true;
        if (request.url?.endsWith("/absent") === true) response.statusCode = 404;
        response.end(
          JSON.stringify(isToken ? { access_token: "t0ken" } : { key: KEY, algorithm: "ECDSA", digest: "SHA1" }),
        );
      },
      async (api) => {
        const credentials = { clientId: "id", clientSecret: "s3cret", api };
        expect(await fetchEbayKey("key-1", credentials)).toBe(KEY);
        expect(await fetchEbayKey("absent", credentials)).toBeUndefined();
      },
    );
    expect(seen.slice(0, 2)).toEqual([
      `POST /identity/v1/oauth2/token Basic ${Buffer.from("id:s3cret").toString("base64")}`,
      "GET /commerce/notification/v1/public_key/key-1 Bearer t0ken",
    ]);
  });

  it.each([
    [{ ...OPTIONS, clientId: undefined }, /`clientId`: got none/],
    [{ ...OPTIONS, clientSecret: undefined }, /`clientSecret`: got none/],
    [{ ...OPTIONS, verificationToken: "short" }, /`verificationToken`: got 5 characters, expected 32 to 80/],
    [{ ...OPTIONS, environment: "live" as "sandbox" }, /`environment`: got "live"/],
    [{ ...OPTIONS, publicKeys: { a: "b" } }, /ebay: `publicKeys`/],
  ])("wrong options are refused: case %#", (options, message) => {
    expect(() => ebay(options)).toThrow(message);
  });
});
