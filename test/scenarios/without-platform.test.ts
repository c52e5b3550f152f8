import { describe, expect, it } from "vitest";
import { runDoctor } from "../../src/app/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { PRODUCTION } from "../support/configuration.ts";
import { conforms } from "../support/openapi.ts";
import { payment, type TestReceiver, TOKEN, testConfig, withReceiver } from "../support/receiver.ts";

const SECRET = "whsec_vJ8qLx2RkT0bNfYd7WmC";
const BASE = "/hooks";
const env = {
  ...PRODUCTION,
  ADMIN_TOKEN: TOKEN,
  HOST: "127.0.0.1",
  TRUST_PROXY: "127.0.0.1",
  SOURCES: "stripe",
  STRIPE_SECRET: SECRET,
  SIGNING_SECRET: "",
  OAUTH_TOKEN_URL: "",
  OAUTH_CLIENT_ID: "",
  OAUTH_CLIENT_SECRET: "",
};
const HTTPS = { "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1" };

const serve = (use: (receiver: TestReceiver) => Promise<void>) => withReceiver("sqlite", use, { env });

describe("a production receiver without SIGNING_SECRET", () => {
  it("the addresses of the platform return 404, and the other source handles its events", () =>
    serve(async (receiver) => {
      for (const path of ["/api/platform/callback", "/api/v1/platform/callback", "/api/v2/platform/callback"]) {
        const { status } = await receiver.send(payment(), { path: `${BASE}${path}`, headers: HTTPS });
        expect(status).toBe(404);
      }
      const body = Buffer.from('{"id":"evt_1","type":"invoice.paid","created":1766000000,"data":{}}');
      const headers = { ...HTTPS, ...stripe({ secret: SECRET }).sign?.({ body, now: new Date() }) };
      const url = `${receiver.publicOrigin}${BASE}/api/stripe/callback`;
      expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
      expect(await receiver.count("oncehook_records", "source = 'stripe'")).toBe(1);
    }));

  it("the sources list and the log of the start say that the built-in protocol is off", () =>
    serve(async (receiver) => {
      const answer = await receiver.admin("/api/v1/sources");
      conforms("/api/v1/sources", "get", answer);
      const { items } = answer.body as { items: { source: string }[] };
      expect(items.map(({ source }) => source)).toEqual(["stripe"]);
      expect((await receiver.admin("/api/v1/sources/platform/check", { method: "POST" })).status).toBe(404);
      const message =
        "SIGNING_SECRET is not set: the built-in protocol (`platform`) is off, and its addresses return 404";
      expect(receiver.lines).toContainEqual(expect.objectContaining({ level: 30, msg: message, sources: ["stripe"] }));
    }));

  it("doctor says so, and names the addresses of the other sources", () =>
    serve(async ({ target }) => {
      const address = "https://pay.example.com/hooks/api/stripe/callback";
      const found = await runDoctor(testConfig(target, env), [address], []);
      expect(found).toContainEqual({
        level: "ok",
        check: "authentication",
        message: "SIGNING_SECRET is not set: the built-in protocol (`platform`) is off, and its addresses return 404",
      });
      expect(found).toContainEqual({
        level: "ok",
        check: "address",
        message: `${address} is registered and served`,
      });
      const unregistered = await runDoctor(testConfig(target, env), [], []);
      expect(unregistered.filter(({ check }) => check === "address")).toEqual([
        { level: "ok", check: "address", message: `register this for callbacks of stripe: ${address}` },
      ]);
    }));

  it("a redirect that is neither signed nor known by its state returns 401", () =>
    serve(async (receiver) => {
      const url = `${receiver.publicOrigin}${BASE}/api/platform/oauth-callback`;
      const body = JSON.stringify({ code: "c", state: "s" });
      const headers = { ...HTTPS, "content-type": "application/json", "X-Signature": "0".repeat(64) };
      expect((await fetch(url, { method: "POST", body, headers })).status).toBe(401);
    }));
});
