import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AdminError, createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler, signHmac } from "../../src/index.ts";
import { certificate } from "../support/certificate.ts";
import { JWT, PRODUCTION } from "../support/configuration.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { withFolder } from "../support/folder.ts";
import { conforms } from "../support/openapi.ts";
import { SECRET, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";

const clientOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN });
const own = defineHandler({
  type: "parcel_shipped",
  versions: ["v2"],
  data: z.object({ parcel_id: z.string(), weight_grams: z.int().min(5), to: z.object({ city: z.string() }) }),
  handle: ({ event }) => ({ parcel_id: event.data.parcel_id }),
});
const payment = (id: string, type = "payment_notify") =>
  JSON.stringify({ event_id: id, event_type: type, timestamp: 1, data: { order_id: "o1", amount: 1 } });

async function send(receiver: TestReceiver, body: object) {
  const headers = { "content-type": "application/json" };
  const answer = await receiver.admin("/api/v1/sandbox/events", {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });
  conforms("/api/v1/sandbox/events", "post", answer);
  return answer;
}

describeFullOnPostgres("the sandbox on %s", (dialect) => {
  it("the sandbox has a sample of each type and version that is handled when it is sent", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        conforms("/api/v1/sandbox", "get", await receiver.admin("/api/v1/sandbox"));
        const client = clientOf(receiver);
        const { events } = await client.sandbox.get();
        expect(events.map(({ event_type, version }) => `${event_type} ${version}`)).toEqual([
          "parcel_shipped v2",
          "payment_notify v1",
          "payment_notify v2",
          "user_authorized v1",
          "user_authorized v2",
          "webhook_message v1",
          "webhook_message v2",
        ]);
        for (const { event_type, version, sample } of events) {
          const { response } = await client.sandbox.send({ body: JSON.stringify(sample), version });
          expect([event_type, response.status, JSON.parse(response.body)]).toMatchObject([
            event_type,
            200,
            { status: "success" },
          ]);
        }
        expect(await receiver.count("oncehook_records", "status = 'completed'")).toBe(events.length);
      },
      { handlers: [own] },
    ));

  it("the sandbox walks the OAuth flow to its end, and says of each step what it means, without code and state", () =>
    withReceiver(dialect, async (receiver) => {
      const answer = await receiver.admin("/api/v1/sandbox/oauth", { method: "POST" });
      conforms("/api/v1/sandbox/oauth", "post", answer);
      const { signed_in, steps } = await clientOf(receiver).sandbox.runOAuthFlow();
      expect(signed_in).toBe(true);
      expect(steps.map(({ method, status, url }) => [method, status, new URL(url).pathname])).toEqual([
        ["GET", 303, "/api/platform/oauth-start"],
        ["GET", 303, "/sandbox/oauth/authorize"],
        ["GET", 200, "/api/platform/oauth-callback"],
      ]);
      expect(new URL(steps[1]?.url ?? "").searchParams.get("state")).toBe("[masked]");
      expect(new URL(steps[2]?.url ?? "").search).toBe("?code=[masked]&state=[masked]");
      expect(JSON.parse(steps[2]?.body ?? "")).toEqual({
        status: "success",
        data: { user_id: "sandbox-user" },
      });
      expect(JSON.stringify(steps)).not.toContain("sandbox_flow_");
      expect(await receiver.count("users", "user_id = 'sandbox-user'")).toBe(1);
      expect(await receiver.count("oncehook_callbacks", "source = 'oauth' AND outcome = 'success'")).toBe(2);
    }));
});

describe("the sandbox", () => {
  it("the sandbox shows what was sent and answered, and never the signature", () =>
    withReceiver("sqlite", async (receiver) => {
      const body = payment("evt_1");
      const { body: shown } = await send(receiver, { body });
      expect(shown).toMatchObject({
        request: {
          method: "POST",
          url: `${receiver.publicOrigin}/api/platform/callback`,
          headers: { "x-signature": "[masked]", "x-event-type": "payment_notify" },
          body,
        },
        response: { status: 200, headers: { "x-request-id": expect.any(String) } },
      });
      expect(JSON.stringify(shown)).not.toContain(signHmac(SECRET, Buffer.from(body)));
      const again = await send(receiver, { body });
      expect(again.body).toMatchObject({ response: { status: 200, body: '{"status":"already_processed"}' } });
    }));

  it.each([
    ["wrong", "signature_mismatch"],
    ["none", "signature_missing"],
  ])("the sandbox shows the refusal of a callback that is signed %s", (sign, outcome) =>
    withReceiver("sqlite", async (receiver) => {
      const { body } = await send(receiver, { body: payment("evt_1"), sign });
      expect(body).toMatchObject({ response: { status: 401, body: '{"error":"invalid signature"}' } });
      const { items } = await clientOf(receiver).callbacks.list();
      expect(items.map((row) => row.outcome)).toEqual([outcome]);
      expect(await receiver.count("oncehook_records")).toBe(0);
    }),
  );

  it("the sandbox sends a body as it is, also one that is no event", () =>
    withReceiver("sqlite", async (receiver) => {
      const { body } = await send(receiver, { body: "{ é" });
      expect(body).toMatchObject({ request: { body: "{ é" }, response: { status: 400 } });
    }));

  it.each([
    [{ path: "/api/v1/platform/callback" }, 400],
    [{ path: "/api/v2/platform/callback" }, 200],
    [{ version: "v2" }, 200],
    [{}, 400],
  ])("the sandbox reaches the version that is asked for: %o", (over, status) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const data = { parcel_id: "p", weight_grams: 9, to: { city: "c" } };
        const event = { event_id: "e1", event_type: "parcel_shipped", timestamp: 1, data };
        const { body } = await send(receiver, { body: JSON.stringify(event), ...over });
        expect(body).toMatchObject({ response: { status } });
      },
      { handlers: [own], env: { CALLBACK_BASE_URL: "http://127.0.0.1:1/hooks" } },
    ),
  );

  it.each([{ path: "/elsewhere" }, { path: "http://127.0.0.1:1/" }, { sign: "maybe" }, { url: "http://x/" }])(
    "the sandbox refuses to send %o",
    (over) =>
      withReceiver("sqlite", async (receiver) => {
        expect((await send(receiver, { body: "{}", ...over })).status).toBe(400);
      }),
  );

  it.each<[string, Record<string, string>, string]>([
    ["token", { AUTH_METHOD: "token", CALLBACK_TOKEN: "a-token-of-some-length" }, "X-Callback-Token"],
    ["jwt", JWT, "Authorization"],
    ["hmac+token", { AUTH_METHOD: "hmac+token", CALLBACK_TOKEN: "a-token-of-some-length" }, "x-signature"],
  ])("the sandbox authenticates as AUTH_METHOD says: %s", (_title, env, header) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const right = await send(receiver, { body: payment("evt_1") });
        expect(right.body).toMatchObject({
          request: { headers: { [header]: "[masked]" } },
          response: { status: 200 },
        });
        for (const sign of ["wrong", "none"]) {
          const { body } = await send(receiver, { body: payment("evt_2"), sign });
          expect([sign, body]).toMatchObject([sign, { response: { status: 401 } }]);
        }
      },
      { env },
    ),
  );

  it("the sandbox says that it cannot sign what only the platform's private key can", () =>
    withFolder(async (folder) => {
      const file = join(folder, "platform.pem");
      const { publicKey } = generateKeyPairSync("ed25519");
      await writeFile(file, publicKey.export({ type: "spki", format: "pem" }));
      const { JWT_SECRET: _, ...jwt } = JWT;
      const env = { ...jwt, JWT_ALGORITHM: "EdDSA", JWT_PUBLIC_KEY_FILE: file };
      await withReceiver(
        "sqlite",
        async (receiver) => {
          const refused = await send(receiver, { body: payment("evt_1") });
          expect([refused.status, refused.body.error]).toEqual([
            409,
            expect.stringContaining("only the platform, which holds the private key, can make a JWT with EdDSA"),
          ]);
          const wrong = await send(receiver, { body: payment("evt_1"), sign: "wrong" });
          expect(wrong.body).toMatchObject({ response: { status: 401 } });
        },
        { env },
      );
    }));

  it("the sandbox reaches a listener that speaks TLS under its public name", () =>
    withFolder(async (folder) => {
      const env = {
        CALLBACK_BASE_URL: "https://pay.example.com",
        TLS_CERT_FILE: join(folder, "cert.pem"),
        TLS_KEY_FILE: join(folder, "key.pem"),
        HOST: "127.0.0.1",
      };
      const { cert, key } = await certificate("pay", { altNames: [{ type: 2, value: "pay.example.com" }] });
      await writeFile(env.TLS_CERT_FILE, cert);
      await writeFile(env.TLS_KEY_FILE, key);
      await withReceiver(
        "sqlite",
        async (receiver) => {
          expect(receiver.publicOrigin).toMatch(/^https:\/\/127\.0\.0\.1:/);
          const { body } = await send(receiver, { body: payment("evt_1") });
          expect(body).toMatchObject({ response: { status: 200 } });
          const { signed_in, steps } = await clientOf(receiver).sandbox.runOAuthFlow();
          expect([signed_in, steps[0]?.url]).toEqual([true, "https://pay.example.com/api/platform/oauth-start"]);
        },
        { env },
      );
    }));

  it("the sandbox says that the public listener does not answer, where its certificate has expired", () =>
    withFolder(async (folder) => {
      const env = {
        CALLBACK_BASE_URL: "https://pay.example.com",
        TLS_CERT_FILE: join(folder, "cert.pem"),
        TLS_KEY_FILE: join(folder, "key.pem"),
        HOST: "127.0.0.1",
      };
      const dates = { notBeforeDate: new Date("2020-01-01"), notAfterDate: new Date("2020-02-01") };
      const { cert, key } = await certificate("pay", dates);
      await writeFile(env.TLS_CERT_FILE, cert);
      await writeFile(env.TLS_KEY_FILE, key);
      await withReceiver(
        "sqlite",
        async (receiver) => {
          const { status, body } = await send(receiver, { body: payment("evt_1") });
          expect([status, body.error]).toEqual([
            502,
            `${receiver.publicOrigin} did not answer: certificate has expired`,
          ]);
        },
        { env },
      );
    }));

  it("the sandbox says that the receiver starts no flow without a handler of user_authorized", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const { signed_in, steps } = await clientOf(receiver).sandbox.runOAuthFlow();
        expect([signed_in, steps.length, steps[0]?.status]).toEqual([false, 1, 404]);
        expect(steps[0]?.message).toBe("The receiver starts no flow; its answer says what to do.");
        expect(steps[0]?.body).toContain("user_authorized");
      },
      { env: { HANDLERS: "payment_notify" } },
    ));

  it("the sandbox does not walk a flow that would go to a real authorization server", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const answer = await receiver.admin("/api/v1/sandbox/oauth", { method: "POST" });
        conforms("/api/v1/sandbox/oauth", "post", answer);
        expect([answer.status, answer.body.error]).toEqual([
          409,
          expect.stringMatching(/^an authorization server is configured/),
        ]);
      },
      {
        env: {
          OAUTH_AUTHORIZATION_URL: "http://127.0.0.1:1/authorize",
          OAUTH_TOKEN_URL: "http://127.0.0.1:1/token",
          OAUTH_CLIENT_ID: "us",
          OAUTH_CLIENT_SECRET: "the-secret-of-this-client",
        },
      },
    ));

  it("the sandbox returns 404 in production", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const { sandbox } = clientOf(receiver);
        const absent = { status: 404, message: "there is no sandbox in production" };
        await expect(sandbox.get()).rejects.toMatchObject(absent);
        await expect(sandbox.send({ body: payment("evt_1") })).rejects.toMatchObject(absent);
        await expect(sandbox.runOAuthFlow()).rejects.toBeInstanceOf(AdminError);
        expect((await receiver.admin("/api/v1/sandbox/oauth", { method: "POST" })).status).toBe(404);
        expect(await receiver.count("oncehook_callbacks")).toBe(0);
      },
      { env: { ...PRODUCTION, ADMIN_TOKEN: TOKEN, HOST: "127.0.0.1" } },
    ));
});
