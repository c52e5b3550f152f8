import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type CallbackFilters, createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { github, stripe } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { withHttpServer } from "../support/http-server.ts";
import { conforms } from "../support/openapi.ts";
import { payment, startReceiver, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const REACH = "/api/v1/sources/platform/check";
const CHECK_HEADER = "x-oncehook-endpoint-check";
const OLD_SECRET = "the-signing-secret-before-this-one";
const NO_ADVICE = { advice: null, can_retire: false, unused_since: null };
const parcels = defineHandler({
  type: "parcel_shipped",
  versions: ["v2"],
  data: z.object({}),
  prepare: async () => ({ fetched: true }),
  handle: () => ({}),
});

const BILLED = {
  sources: {
    billing: stripe({ secret: "whsec_of-the-tests", path: "/in/stripe" }),
    code: github({ secret: "of-the-tests", answer: "after" }),
  },
  handlers: [defineHandler({ source: "billing", type: "invoice.*", data: z.looseObject({}), handle: () => ({}) })],
};

const clientOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN });

async function check(receiver: TestReceiver) {
  const answer = await receiver.admin(REACH, { method: "POST" });
  expect(answer.status).toBe(200);
  conforms("/api/v1/sources/{source}/check", "post", answer);
  return answer.body as unknown as Awaited<ReturnType<ReturnType<typeof clientOf>["sources"]["check"]>>;
}

describeFullOnPostgres("what platforms are to register, on %s", (dialect) => {
  it("the sources list has the types of each address and the state of the handlers", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const answer = await receiver.admin("/api/v1/sources");
        conforms("/api/v1/sources", "get", answer);
        const { items, oauth, handlers } = await clientOf(receiver).sources.list();
        const [platform] = items;
        const base = "https://pay.example.com/hooks/api";
        expect(platform?.addresses).toEqual([
          {
            url: `${base}/platform/callback`,
            version: "by_header",
            method: "POST",
            event_types: ["payment_notify", "parcel_shipped"],
          },
          {
            url: `${base}/v1/platform/callback`,
            version: "v1",
            method: "POST",
            event_types: ["payment_notify"],
          },
          {
            url: `${base}/v2/platform/callback`,
            version: "v2",
            method: "POST",
            event_types: ["payment_notify", "parcel_shipped"],
          },
        ]);
        expect(oauth).toBeNull();
        expect(handlers).toEqual([
          {
            source: "platform",
            event_type: "payment_notify",
            name: null,
            versions: ["v1", "v2"],
            has_prepare: false,
            time_limit_ms: 10_000,
          },
          {
            source: "platform",
            event_type: "parcel_shipped",
            name: null,
            versions: ["v2"],
            has_prepare: true,
            time_limit_ms: 10_000,
          },
        ]);
      },
      {
        handlers: [parcels],
        env: { CALLBACK_BASE_URL: "https://pay.example.com/hooks", HANDLERS: "payment_notify" },
      },
    ));

  it("the sources list has each source's platform, address, answer mode and types", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const answer = await receiver.admin("/api/v1/sources");
        conforms("/api/v1/sources", "get", answer);
        const { items } = await clientOf(receiver).sources.list();
        expect(items.map(({ source }) => source)).toEqual(["platform", "billing", "code"]);
        const [platform, billing, code] = items;
        expect(platform).toMatchObject({ about: null, unhandled: "refuse", answer: { mode: "inline" } });
        const url = "https://pay.example.com/hooks/in/stripe";
        expect(billing).toMatchObject({
          about: {
            preset: "stripe",
            title: "Stripe",
            proof: "signs",
            instruction: `Register ${url} with Stripe, exactly as it is. Stripe proves each callback by the header Stripe-Signature.`,
            identity: "signed id: a callback that is sent again, or captured, is a duplicate",
            deadline_seconds: 10,
            retry_hours: 72,
            lists_events: true,
            disables: null,
          },
          addresses: [{ url, version: "by_header", event_types: ["invoice.*"] }],
          event_types: ["invoice.*"],
          unhandled: "ignore",
          answer: { mode: "within", within_ms: 6_667 },
          activity: { last_callback_at: null, outcomes: {}, p99_ms: null },
        });
        expect(code).toMatchObject({ event_types: ["*"], answer: { mode: "after", within_ms: null } });
        expect(code?.addresses.map((address) => address.url)).toEqual(
          ["", "v1/", "v2/"].map((version) => `https://pay.example.com/hooks/api/${version}code/callback`),
        );
      },
      { ...BILLED, env: { CALLBACK_BASE_URL: "https://pay.example.com/hooks" } },
    ));

  it("the sources list counts what came to each source in the last day, also what was ignored", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const type of ["invoice.paid", "invoice.voided", "customer.created"]) {
          const body = Buffer.from(JSON.stringify({ id: type, type }));
          const headers = BILLED.sources.billing.sign?.({ body, now: new Date() }) ?? {};
          await fetch(`${receiver.publicOrigin}/in/stripe`, { method: "POST", body, headers });
        }
        const { items } = await clientOf(receiver).sources.list();
        const { activity } = items.find(({ source }) => source === "billing") ?? {};
        expect(activity).toMatchObject({ outcomes: { success: 2, ignored: 1 }, p99_ms: expect.any(Number) });
        expect(activity?.last_callback_within_seconds).toBe(0);
        expect(Date.now() - Date.parse(activity?.last_callback_at ?? "")).toBeLessThan(60_000);
      },
      BILLED,
    ));

  it("the check of a configured source reaches its address", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const result = await clientOf(receiver).sources.check("billing");
        expect(result).toMatchObject({ reached: true, status: 401 });
        expect(result.addresses.map(({ url }) => url)).toEqual([`${receiver.publicOrigin}/in/stripe`]);
        const billing = (await clientOf(receiver).sources.list()).items.find(({ source }) => source === "billing");
        expect(billing?.activity).toMatchObject({ last_callback_at: null, p99_ms: null });
      },
      BILLED,
    ));

  it("the sources list has the last use of each secret, and never the secret", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const seen = async () => {
          const { items } = await clientOf(receiver).sources.list();
          return items[0]?.authentication[0]?.secrets ?? [];
        };
        expect(await seen()).toEqual([
          { name: "SIGNING_SECRET", is_previous: false, last_used_at: null, ...NO_ADVICE },
          {
            name: "SIGNING_SECRET_PREVIOUS",
            is_previous: true,
            last_used_at: null,
            ...{ can_retire: false, unused_since: null },
            advice: expect.stringMatching(/^keep it; the platform has not used the new one since /),
          },
        ]);
        const before = Date.now();
        await receiver.send(payment(), { secret: OLD_SECRET });
        // The use is noted beside the answer.
        await until(async () => (await seen())[1]?.last_used_at !== null);
        const [current, previous] = await seen();
        expect(current?.last_used_at).toBeNull();
        expect(Date.parse(previous?.last_used_at ?? "")).toBeGreaterThanOrEqual(before - 1_000);
        const { body } = await receiver.admin("/api/v1/sources");
        expect(JSON.stringify(body)).not.toContain(OLD_SECRET);
      },
      { env: { SIGNING_SECRET_PREVIOUS: OLD_SECRET } },
    ));

  it("an address that leads to the receiver itself is reached, with a warning that outsiders cannot reach it", () =>
    withReceiver(dialect, async (receiver) => {
      const found = await check(receiver);
      const url = `${receiver.publicOrigin}/api/platform/callback`;
      expect(found).toMatchObject({ url, reached: true, status: 401 });
      expect(found.message).toBe("Reached: the receiver refused the unsigned request with 401, as it should.");
      expect(found.warning).toMatch(/127\.0\.0\.1, an address of this machine .*cannot reach it/);
      expect(found.addresses.map((one) => [one.reached, one.status])).toEqual([
        [true, 401],
        [true, 401],
        [true, 401],
      ]);
    }));

  it("the callback log lists endpoint checks under an outcome of their own, and not among the refused callbacks", () =>
    withReceiver(dialect, async (receiver) => {
      await check(receiver);
      await receiver.send(payment(), { headers: { "x-signature": "" } });
      await receiver.send(payment());
      const { callbacks } = clientOf(receiver);
      const found = async (filters: CallbackFilters) =>
        (await callbacks.list(filters)).items.map(({ outcome }) => outcome);
      expect(await found({ status: "4xx", outcome: "!endpoint_check" })).toEqual(["signature_missing"]);
      expect(await found({ outcome: "!endpoint_check,!signature_missing" })).toEqual(["success"]);
      const checks = ["endpoint_check", "endpoint_check", "endpoint_check"];
      expect(await found({ outcome: "endpoint_check" })).toEqual(checks);
      const mixed = await receiver.admin("/api/v1/callbacks?outcome=!endpoint_check,success");
      expect([mixed.status, mixed.body.error]).toEqual([400, expect.stringMatching(/^outcome: got /)]);
    }));

  it("an address is reached where another process on the same database responds", () =>
    withDatabase(dialect, async (target) => {
      const other = await startReceiver(target);
      const receiver = await startReceiver(target, { env: { CALLBACK_BASE_URL: other.publicOrigin } });
      try {
        expect(await check(receiver)).toMatchObject({ reached: true, status: 401 });
      } finally {
        await receiver.stop();
        await other.stop();
      }
    }));
});

describe("the check of the registered addresses", () => {
  it("the check reaches the redirect address of OAuth as well, where it is one", async () => {
    const oauth = "/api/v1/sources/oauth/check";
    const port = await freePort();
    await withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await clientOf(receiver).sources.check("oauth")).toMatchObject({
          url: `http://127.0.0.1:${port}/api/platform/oauth-callback`,
          reached: true,
          status: 401,
        });
        expect(await receiver.count("oncehook_callbacks", "outcome = 'endpoint_check'")).toBe(1);
      },
      { env: { PORT: String(port) } },
    );
    const env = { HANDLERS: "payment_notify" };
    await withReceiver(
      "sqlite",
      async (receiver) => expect((await receiver.admin(oauth, { method: "POST" })).status).toBe(404),
      { env },
    );
  });

  it("a refused callback stays among the refused ones, although it imitates a check", {
    tags: "full",
  }, async () => {
    const seen: string[] = [];
    let now = Date.now();
    await withHttpServer(
      (message, response) => {
        seen.push(String(message.headers[CHECK_HEADER]));
        response.writeHead(500).end();
      },
      (origin) =>
        withReceiver(
          "sqlite",
          async (receiver) => {
            const { body } = await receiver.admin(REACH, { method: "POST" });
            expect([body.status, seen.length]).toEqual([500, 3]);
            const [first = "", second = "", third = ""] = seen;
            const outcomeOf = async (token: string, raw = "{}", signature = "") => {
              const headers = { "x-signature": signature, [CHECK_HEADER]: token };
              expect((await receiver.send({}, { raw, headers })).body).toEqual({
                error: "invalid signature",
              });
              const { items } = await clientOf(receiver).callbacks.list({ limit: 1 });
              return items[0]?.outcome;
            };
            const forged = first.replace(/(?<=^.{30})./, (letter) => (letter === "A" ? "B" : "A"));
            expect(await outcomeOf(forged)).toBe("signature_missing");
            expect(await outcomeOf("x".repeat(5_000))).toBe("signature_missing");
            expect(await outcomeOf(first, '{"event_id":"e"}')).toBe("signature_missing");
            expect(await outcomeOf(first, "{}", "0".repeat(64))).toBe("signature_mismatch");
            expect(await outcomeOf(first)).toBe("endpoint_check");
            // Each is good for one callback, and for a minute.
            expect(await outcomeOf(first)).toBe("signature_missing");
            now += 59_000;
            expect(await outcomeOf(second)).toBe("endpoint_check");
            now += 2_000;
            expect(await outcomeOf(third)).toBe("signature_missing");
          },
          {
            env: { CALLBACK_BASE_URL: origin, RATE_LIMIT_CALLBACK: "off" },
            clock: { now: () => new Date(now) },
          },
        ),
    );
  });

  it("the check distinguishes a receiver with another database from this one", { tags: "full" }, () =>
    withReceiver("sqlite", (other) =>
      withReceiver(
        "sqlite",
        async (receiver) => {
          const found = await check(receiver);
          expect(found).toMatchObject({ reached: false, status: 401 });
          expect(found.message).toMatch(/it is a receiver of another database \(another environment's\?\)/);
        },
        { env: { CALLBACK_BASE_URL: other.publicOrigin } },
      ),
    ),
  );

  it("the check says that its own requests count against the rate limit", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const { reached, addresses } = await check(receiver);
        expect(reached).toBe(true);
        expect(addresses.map(({ status }) => status).sort()).toEqual([401, 429, 429]);
        const refused = addresses.find(({ status }) => status === 429);
        expect(refused?.message).toMatch(
          /^Reached, but answered 429: the receiver's own limit .* Try again in \d+ s\.$/,
        );
      },
      { env: { RATE_LIMIT_CALLBACK: "1/hour" } },
    ));

  it("the check finds the row of its request where the log shows nothing of what it was marked with", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await check(receiver)).toMatchObject({ reached: true, status: 401 });
        expect(await receiver.count("oncehook_callbacks", "request_headers LIKE '%\"oncehook-endpoint-check %'")).toBe(
          0,
        );
      },
      { env: { MASK_HEADERS: "User-Agent" } },
    ));

  it("the check says which address IP_ALLOW_LIST does not name", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await check(receiver)).toMatchObject({
          reached: true,
          status: 403,
          message: expect.stringContaining("IP_ALLOW_LIST does not name 127.0.0.1, from where this check came"),
        });
      },
      { env: { IP_ALLOW_LIST: "10.0.0.0/8" } },
    ));

  it("the check reports that the proxy does not announce HTTPS", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await check(receiver)).toMatchObject({
          reached: false,
          status: 403,
          message: expect.stringContaining("arrived at the receiver as plain HTTP"),
        });
      },
      { env: { TRUST_PROXY: "10.0.0.0/8", HOST: "127.0.0.1" } },
    ));

  it("the check finds the row of its request although a proxy answers something else", async () => {
    const port = await freePort();
    await withHttpServer(
      (message, response) => {
        const { method, url, headers } = message;
        const passed = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
          answer.resume();
          answer.once("end", () => response.writeHead(502, { server: "a-proxy" }).end());
        });
        message.pipe(passed);
      },
      (origin) =>
        withReceiver(
          "sqlite",
          async (receiver) => {
            expect(await check(receiver)).toMatchObject({
              reached: false,
              status: 502,
              message: expect.stringMatching(
                /^The request arrived at the receiver, which answered 401, but what came back is 502 of a server that calls itself "a-proxy"/,
              ),
            });
          },
          { env: { PORT: String(port), CALLBACK_BASE_URL: origin } },
        ),
    );
  });

  it("one check of the registered addresses runs at a time", async () => {
    const held = Promise.withResolvers<void>();
    const asked: string[] = [];
    await withHttpServer(
      (message, response) => {
        asked.push(message.url ?? "");
        void held.promise.then(() => response.writeHead(301, { location: "/" }).end());
      },
      (origin) =>
        withReceiver(
          "sqlite",
          async (receiver) => {
            const first = check(receiver);
            await until(() => asked.length === 3);
            const second = await receiver.admin(REACH, { method: "POST" });
            conforms("/api/v1/sources/{source}/check", "post", second);
            expect(second.status).toBe(409);
            held.resolve();
            expect(await first).toMatchObject({ reached: false, status: 301 });
            expect(await check(receiver)).toMatchObject({ status: 301 });
          },
          { env: { CALLBACK_BASE_URL: origin } },
        ),
    );
  });

  it("the check knows no other source, and takes no address from its caller", () =>
    withHttpServer(
      () => expect.unreachable("nobody may be called but the configured address"),
      (origin) =>
        withReceiver("sqlite", async (receiver) => {
          const stranger = await receiver.admin("/api/v1/sources/stripe/check", { method: "POST" });
          conforms("/api/v1/sources/{source}/check", "post", stranger);
          expect([stranger.status, stranger.body.error]).toEqual([404, "there is no source of this name"]);
          const body = JSON.stringify({ url: origin });
          const headers = { "content-type": "application/json" };
          const { body: found } = await receiver.admin(REACH, { method: "POST", body, headers });
          expect(found.url).toBe(`${receiver.publicOrigin}/api/platform/callback`);
        }),
    ));
});
