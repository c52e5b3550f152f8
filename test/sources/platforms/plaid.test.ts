import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type PlaidOptions, plaid } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { withHttpsServer } from "../../support/http-server.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const environment = { name: "plaid", clock: { now: () => NOW }, origin: () => "https://hooks.example.com" };
const pair = await generateKeyPair("ES256", { extractable: true });
const jwk = { ...(await exportJWK(pair.publicKey)), kid: "known", alg: "ES256", use: "sig" };
const BODY = '{"webhook_type":"ITEM","webhook_code":"ERROR","item_id":"i1"}';

/** Plaid's API with one key. */
function withPlaid(use: (verify: Verify, asked: string[]) => Promise<void>, key: object = jwk): Promise<void> {
  const asked: string[] = [];
  return withHttpsServer(
    async (request, response) => {
      const { secret, key_id } = JSON.parse(await text(request));
      asked.push(secret);
      if (secret !== "right") response.writeHead(400).end('{"error_code":"INVALID_API_KEYS"}');
      else if (key_id !== "known") response.writeHead(400).end('{"error_code":"INVALID_WEBHOOK_VERIFICATION_KEY_ID"}');
      else response.end(JSON.stringify({ key }));
    },
    (apiUrl) =>
      use(async ({ kid = "known", body = BODY, ...over }) => {
        const options = { secret: "right", clientId: "c", apiUrl, ...over };
        const token = await signed(kid);
        const request = requestOf(body, { headers: { "Plaid-Verification": token } });
        return plaid(options).createScheme(environment).verify(request);
      }, asked),
  );
}

type Verify = (over: Partial<PlaidOptions> & { kid?: string; body?: string }) => Promise<unknown>;

function signed(kid: string): Promise<string> {
  const request_body_sha256 = createHash("sha256").update(BODY).digest("hex");
  return new SignJWT({ iat: NOW.getTime() / 1000 - 600, request_body_sha256 })
    .setProtectedHeader({ alg: "ES256", kid })
    .sign(pair.privateKey);
}

describe("a callback of Plaid", () => {
  it("a callback of Plaid is accepted with the key that Plaid hands out", () =>
    withPlaid(async (verify) => {
      expect(await verify({})).toMatchObject({ verified: [{ method: "jwt", index: 0 }] });
      expect(await verify({ body: "{}" })).toMatchObject({ code: "jwt_body_mismatch" });
    }));

  it("a callback of Plaid is refused where Plaid knows no such key", () =>
    withPlaid(async (verify) => {
      expect(await verify({ kid: "other" })).toMatchObject({ code: "jwt_signature" });
    }));

  it("a callback of Plaid is refused where its key has expired", () =>
    withPlaid(
      async (verify) => {
        expect(await verify({})).toMatchObject({ code: "jwt_signature" });
      },
      { ...jwk, expired_at: 1_700_000_000 },
    ));

  it("a callback of Plaid cannot be judged where Plaid takes none of the secrets", () =>
    withPlaid(async (verify, asked) => {
      expect(await verify({ secret: ["wrong", "older"] })).toMatchObject({ code: "keys_unavailable" });
      expect(asked).toEqual(["wrong", "older"]);
    }));

  it("a callback of Plaid is judged with the next secret where Plaid does not take the first", () =>
    withPlaid(async (verify) => {
      expect(await verify({ secret: ["wrong", "right"] })).toHaveProperty("verified");
    }));

  it("a callback of Plaid is refused for its age only where that is configured", () =>
    withPlaid(async (verify) => {
      expect(await verify({ maxAgeSeconds: 600 })).toHaveProperty("verified");
      expect(await verify({ maxAgeSeconds: 300 })).toMatchObject({ code: "jwt_claims" });
    }));

  it.each([
    ["no client id", { clientId: undefined }],
    ["an empty secret", { secret: "" }],
    ["an unknown environment", { environment: "development" }],
    ["an API over plain HTTP", { apiUrl: "http://production.plaid.com" }],
  ])("a callback of Plaid is not expected with %s", (_, over) => {
    const options = { secret: "s", clientId: "c", ...over } as unknown as PlaidOptions;
    expect(() => plaid(options)).toThrow(TypeError);
  });
});
