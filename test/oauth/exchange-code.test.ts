import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type CodeGrant, isRejected } from "../../src/handlers/index.ts";
import { createCodeExchange, createPlatform } from "../../src/oauth/index.ts";
import { errorText } from "../../src/pipeline/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withHttpServer } from "../support/http-server.ts";

const GRANT = {
  code: "the-code",
  flow: { code_verifier: "v".repeat(43), nonce: "the-nonce", redirect_uri: "https://pay.example.com/cb" },
};
const seconds = () => Math.floor(Date.now() / 1000);

/** Exchanges a code at a token endpoint that answers as it likes: an authorization server that went bad. */
async function exchangeAt(
  answer: RequestListener,
  { scope = "openid", timeLimitMs = 5_000, grant = GRANT as CodeGrant } = {},
) {
  return withHttpServer(answer, async (origin) => {
    const settings = {
      issuer: null,
      authorizationUrl: `${origin}/auth`,
      tokenUrl: `${origin}/token`,
      revocationUrl: null,
      clientId: "us",
      clientSecret: "secret",
      scope,
    };
    const platform = createPlatform(settings, false);
    const exchange = createCodeExchange(() => platform, {
      redirectUri: undefined,
      timeLimitMs,
      log: recordedLog(),
    });
    return exchange(grant).catch((error: unknown) => error as Error);
  });
}

/** The origin that asks is the issuer, where none is configured. */
function tokens(claims: object): RequestListener {
  return async (request, response) => {
    const id_token = await new SignJWT({
      iss: `http://${request.headers.host}`,
      aud: "us",
      sub: "ada",
      nonce: "the-nonce",
      iat: seconds(),
      exp: seconds() + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: "RS256" })
      .sign((await keys).privateKey);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: "a", token_type: "Bearer", id_token }));
  };
}

const keys = generateKeyPair("RS256");

describe("the code exchange", () => {
  it("the exchange sends the verifier and the redirect address of the flow, and authenticates in the header", async () => {
    const seen: unknown[] = [];
    const honest = tokens({});
    const result = await exchangeAt(async (request, response) => {
      seen.push(request.method, request.headers.authorization);
      seen.push(Object.fromEntries(new URLSearchParams(await text(request))));
      honest(request, response);
    });
    expect(result).toMatchObject({ access_token: "a", sub: "ada" });
    expect(seen).toEqual([
      "POST",
      `Basic ${Buffer.from("us:secret").toString("base64")}`,
      {
        grant_type: "authorization_code",
        code: "the-code",
        redirect_uri: "https://pay.example.com/cb",
        code_verifier: "v".repeat(43),
      },
    ]);
  });

  it.each([
    ["another nonce", { nonce: "of-another-flow" }],
    ["no nonce", { nonce: undefined }],
    ["another audience", { aud: "somebody else" }],
    ["several audiences and no authorized party", { aud: ["us", "somebody else"] }],
    ["another authorized party", { azp: "somebody else" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["an expired ID token", { exp: 1 }],
    ["no subject", { sub: undefined }],
  ])("the exchange uses no token that comes with %s", async (_title, claims) => {
    const result = await exchangeAt(tokens(claims));
    expect(result).toBeInstanceOf(Error);
    expect(isRejected(result)).toBe(false);
  });

  it("the exchange uses no token that comes without an ID token where one was asked for", async () => {
    const bare: RequestListener = (_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ access_token: "a", token_type: "Bearer" }));
    };
    expect(await exchangeAt(bare)).toBeInstanceOf(Error);
    expect(await exchangeAt(bare, { scope: "profile" })).toMatchObject({ access_token: "a" });
  });

  it("the exchange takes the user from the ID token also in a flow that the platform started", async () => {
    const grant = { code: "the-code" };
    expect(await exchangeAt(tokens({ nonce: undefined }), { grant })).toMatchObject({ sub: "ada" });
    expect(await exchangeAt(tokens({ azp: "somebody else" }), { grant })).toBeInstanceOf(Error);
  });

  it("the code exchange ignores an ID token that it did not ask for", async () => {
    const foreign = tokens({ iss: "https://accounts.example" });
    expect(await exchangeAt(foreign, { scope: "profile" })).toMatchObject({ access_token: "a" });
  });

  it("the exchange keeps each digit of a user's number", async () => {
    const result = await exchangeAt(
      (_request, response) => {
        response.setHeader("content-type", "application/json");
        response.end('{"access_token":"a","token_type":"Bearer","user_id":17841405793187218}');
      },
      { scope: "profile" },
    );
    expect(result).toMatchObject({ user_id: "17841405793187218" });
  });

  it("the code exchange reports the platform's error and nothing else of its response", async () => {
    const told = await exchangeAt(tokens({ nonce: "of-another-flow", email: "ada@example.com" }));
    const asked = await exchangeAt((_request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":"invalid_client","session":"the-session"}');
    });
    const encrypted = await exchangeAt((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end('{"access_token":"a","session":"the-session","id_token":"a.b.c.the-ciphertext.e"}');
    });
    expect(errorText(asked)).toContain("the platform answered 400: invalid_client");
    expect(errorText(encrypted)).toContain("JWE decryption is not configured");
    expect([told, asked, encrypted].map(errorText).join()).not.toMatch(
      /the-nonce|of-another-flow|ada@|the-session|the-ciphertext/,
    );
  });

  it("the exchange names a demand for another authentication by its status alone", async () => {
    const asked = await exchangeAt((_request, response) => {
      response.writeHead(401, { "www-authenticate": 'Basic realm="the-realm"' }).end('{"hint":"the-hint"}');
    });
    expect(asked).toMatchObject({
      name: "PlatformError",
      message: "the platform answered 401 and wants another authentication",
    });
    expect(errorText(asked)).not.toMatch(/the-realm|the-hint/);
  });

  it("the code exchange follows no redirect, so that the code goes nowhere else", async () => {
    const asked: string[] = [];
    const result = await exchangeAt((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(result).toBeInstanceOf(Error);
    expect(asked).toEqual(["/token"]);
  });

  it("the exchange ends at its time limit, and reads no answer without end", async () => {
    const begun = performance.now();
    expect(await exchangeAt(() => {}, { timeLimitMs: 100 })).toMatchObject({ name: "TimeoutError" });
    expect(performance.now() - begun).toBeLessThan(4_000);
    const endless = await exchangeAt((_request, response) => {
      response.setHeader("content-type", "application/json");
      const chunk = " ".repeat(65_536);
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour);
      pour();
    });
    expect(String(endless)).toContain("answers with more than 1048576 bytes");
  });

  it("the exchange takes the platform's result on a code for final, and its other errors not", async () => {
    const refusing =
      (status: number, error: string): RequestListener =>
      (_request, response) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      };
    expect(isRejected(await exchangeAt(refusing(400, "invalid_grant")))).toBe(true);
    // GitHub says it with another word, under status 200.
    expect(isRejected(await exchangeAt(refusing(200, "bad_verification_code")))).toBe(true);
    for (const [status, error] of [
      [401, "invalid_client"],
      [503, "temporarily_unavailable"],
    ] as const) {
      const result = await exchangeAt(refusing(status, error));
      expect([result instanceof Error, isRejected(result)]).toEqual([true, false]);
    }
  });
});
