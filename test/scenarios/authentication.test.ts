import type { ServerResponse } from "node:http";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { describeFullOnPostgres } from "../support/databases.ts";
import { withHttpServer } from "../support/http-server.ts";
import { payment, type ReceiverOptions, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

const TOKEN = "the-token-the-platform-sends";
const JWT_SECRET = "a-jwt-secret-of-32-bytes-or-more";
const JWT_ENV = {
  AUTH_METHOD: "jwt",
  JWT_ALGORITHM: "HS256",
  JWT_SECRET,
  JWT_ISSUER: "https://platform.example",
  JWT_AUDIENCE: "oncehook",
};
const env = (values: Record<string, string>): ReceiverOptions => ({ env: values });
const jwt = () =>
  new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(JWT_ENV.JWT_ISSUER)
    .setAudience(JWT_ENV.JWT_AUDIENCE)
    .setExpirationTime("1 minute")
    .sign(Buffer.from(JWT_SECRET));

describeFullOnPostgres("authentication on %s", (dialect) => {
  it("a callback with the token is accepted whatever its signature, and one without it returns 401", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const sent = payment();
        const headers = { "x-callback-token": TOKEN, "x-signature": "none" };
        expect((await receiver.send(sent, { headers })).body).toMatchObject({ status: "success" });
        const stranger = await receiver.send(payment());
        expect([stranger.status, stranger.body]).toEqual([401, { error: "invalid token" }]);
        expect(stranger.headers.get("www-authenticate")).toBe('Token realm="callbacks", header="X-Callback-Token"');
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      env({ AUTH_METHOD: "token", CALLBACK_TOKEN: TOKEN }),
    ));

  it("a callback with a valid JWT is accepted, and neither token nor claims are logged", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const token = await jwt();
        const answer = await receiver.send(payment(), { headers: { authorization: `Bearer ${token}` } });
        expect(answer.body).toMatchObject({ status: "success" });
        expect((await receiver.send(payment())).headers.get("www-authenticate")).toBe('Bearer realm="callbacks"');
        expect(JSON.stringify(receiver.lines)).not.toContain(token.split(".")[2]);
      },
      env(JWT_ENV),
    ));

  it("a callback with only one of two required credentials returns 401", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const both = { "x-callback-token": TOKEN };
        expect((await receiver.send(payment(), { headers: both })).status).toBe(200);
        expect((await receiver.send(payment())).status).toBe(401);
        expect((await receiver.send(payment(), { headers: both, secret: "another-secret-entirely" })).status).toBe(401);
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      env({ AUTH_METHOD: "hmac+token", CALLBACK_TOKEN: TOKEN }),
    ));
});

describe("authentication", () => {
  it("the receiver says at the start where it leaves the body open, and only there", async () => {
    const warned = async (values: Record<string, string>) =>
      withReceiver(
        "sqlite",
        async ({ lines }) => lines.some(({ msg }) => String(msg).includes("nothing of its body")),
        env(values),
      );
    expect(await warned({ AUTH_METHOD: "hmac,token", CALLBACK_TOKEN: TOKEN })).toBe(true);
    expect(await warned(JWT_ENV)).toBe(true);
    expect(await warned({ ...JWT_ENV, JWT_BODY_CLAIM: "body_sha256" })).toBe(false);
    expect(await warned({ AUTH_METHOD: "hmac+token", CALLBACK_TOKEN: TOKEN })).toBe(false);
  });

  it("the receiver keeps the token out of the log under whatever header it comes", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await receiver.send(payment(), { headers: { "x-partner": "a-wrong-value-of-a-partner" } });
        await receiver.send(payment(), { headers: { "x-partner": TOKEN } });
        const rows = await wholeCallbacks(receiver);
        for (const logged of [JSON.stringify(rows), JSON.stringify(receiver.lines)]) {
          expect(logged).toContain("x-partner");
          expect(logged).not.toMatch(/a-wrong-value-of-a-partner|the-token-the-platform-sends/);
        }
      },
      env({ AUTH_METHOD: "token", CALLBACK_TOKEN: TOKEN, CALLBACK_TOKEN_HEADER: "X-Partner" }),
    ));

  it("a callback whose authentication cannot be decided returns 503, so that the platform sends it again", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const token = await jwt();
        const [, payload, signature] = token.split(".");
        const header = Buffer.from('{"alg":"RS256","kid":"k"}').toString("base64url");
        const answer = await receiver.send(payment(), {
          headers: { authorization: `Bearer ${header}.${payload}.${signature}` },
        });
        expect([answer.status, answer.body]).toEqual([503, { error: "temporarily unavailable" }]);
        expect(answer.headers.get("retry-after")).toBe("5");
        // A token that is refused beside it decides nothing: the JWT may be right.
        const beside = {
          authorization: `Bearer ${header}.${payload}.${signature}`,
          "x-callback-token": "wrong",
        };
        expect((await receiver.send(payment(), { headers: beside })).status).toBe(503);
      },
      env({
        ...JWT_ENV,
        AUTH_METHOD: "token,jwt",
        CALLBACK_TOKEN: TOKEN,
        JWT_ALGORITHM: "RS256",
        JWT_SECRET: "",
        JWT_JWKS_URL: "http://127.0.0.1:1/jwks",
      }),
    ));

  it("callbacks that wait for keys leave room for authentic ones, and get 503 past half of MAX_UNVERIFIED_BYTES", () => {
    const asked: ServerResponse[] = [];
    return withHttpServer(
      (_request, response) => void asked.push(response),
      (origin) =>
        withReceiver(
          "sqlite",
          async (receiver) => {
            const header = Buffer.from('{"alg":"RS256","kid":"k"}').toString("base64url");
            const headers = { authorization: `Bearer ${header}.e30.AAAA` };
            const statuses: number[] = [];
            const forged = Array.from({ length: 8 }, async () => {
              const url = `${receiver.publicOrigin}/api/platform/callback`;
              statuses.push((await fetch(url, { method: "POST", headers, body: "x".repeat(1_000) })).status);
            });
            await until(() => statuses.length === 6 && asked.length === 1);
            expect((await receiver.send(payment())).status).toBe(200);
            for (const response of asked) response.writeHead(503).end();
            await Promise.all(forged);
            expect(statuses).toEqual(Array(8).fill(503));
          },
          env({
            ...JWT_ENV,
            AUTH_METHOD: "hmac,jwt",
            JWT_ALGORITHM: "RS256",
            JWT_SECRET: "",
            JWT_JWKS_URL: origin,
            MAX_BODY_BYTES: "1024",
            MAX_UNVERIFIED_BYTES: "4096",
          }),
        ),
    );
  });
});
