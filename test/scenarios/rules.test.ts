import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { EFFECTS } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { withLock } from "../support/held-lock.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { event, payment, SECRET, type Sending, startReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";

const answerOf = (env: Record<string, string>, sent: object, sending?: Sending) =>
  withReceiver("sqlite", async (receiver) => (await receiver.send(sent, sending)).body, { env });
/** A signed callback as it goes over the wire, with header lines of the test's own. */
function signed(sent: object, lines: readonly string[], path = "/api/platform/callback"): string {
  const body = JSON.stringify(sent);
  const signature = signHmac(SECRET, Buffer.from(body));
  const own = [`Content-Length: ${body.length}`, `X-Signature: ${signature}`, ...lines];
  return `${[`POST ${path} HTTP/1.1`, "Host: x", "Connection: close", ...own].join("\r\n")}\r\n\r\n${body}`;
}

const paid = { status: "success", data: { order_id: "o1" } };

describe("where the event type stands", () => {
  it("the event type comes from the body alone with EVENT_TYPE_FROM=body", async () => {
    const sending = { headers: { "x-event-type": "nobody_knows" } };
    expect(await answerOf({ EVENT_TYPE_FROM: "body" }, payment(), sending)).toEqual(paid);
  });

  it("the event type comes from the header alone with EVENT_TYPE_FROM=header", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect((await receiver.send(payment())).body).toEqual(paid);
        const answer = await receiver.send(payment(), { headers: { "x-event-type": "" } });
        expect(answer.body).toEqual({ error: "the event type is missing: expected the X-Event-Type header" });
      },
      { env: { EVENT_TYPE_FROM: "header" } },
    ));

  it("the event type comes from the body where the X-Event-Type header is empty", async () => {
    expect(await answerOf({}, payment(), { headers: { "x-event-type": "" } })).toEqual(paid);
    expect(await answerOf({}, payment({ event_type: "" }), { headers: { "x-event-type": "" } })).toEqual({
      error: "the event type is missing: expected event_type in the body",
    });
  });

  it("a callback with two X-Event-Type headers returns 400", () =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await rawExchange(
        receiver.publicOrigin,
        signed(payment(), ["X-Event-Type: payment_notify", "X-Event-Type: payment_notify"]),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('{"error":"X-Event-Type stands more than once"}');
    }));

  it("the type must be the same in header and body with REJECT_TYPE_MISMATCH", async () => {
    const sending = { headers: { "x-event-type": "webhook_message" } };
    const refused = { error: "X-Event-Type and event_type disagree" };
    expect(await answerOf({ REJECT_TYPE_MISMATCH: "true" }, payment(), sending)).toEqual(refused);
    // A body without a type disagrees with none; it is not valid for that.
    const typeless = payment({ event_type: undefined });
    expect(await answerOf({ REJECT_TYPE_MISMATCH: "true" }, typeless, sending)).toEqual({
      error: "event_type: missing; expected a string",
    });
  });

  it("a warning names both event types when they differ and the header decides", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(event("payment_notify", { message: "m" }), {
        headers: { "x-event-type": "webhook_message" },
      });
      expect(receiver.lines.find(({ level }) => level === 40)).toMatchObject({
        header: "webhook_message",
        body: "payment_notify",
      });
      expect((await receiver.admin("/metrics")).body.text).toContain("oncehook_type_mismatch_total 1");
    }));
});

describe("the version of a callback", () => {
  const second = defineHandler({
    type: "of_version_2",
    versions: ["v2"],
    data: z.object({}),
    handle: async () => ({}),
  });

  it.each([
    ["the path's, whatever X-API-Version says", "/api/v1/platform/callback", ["X-API-Version: v2"], 400],
    ["the path's, with X-API-Version v1", "/api/v2/platform/callback", ["X-API-Version: v1"], 200],
    ["X-API-Version's on the path without one", "/api/platform/callback", ["X-API-Version: v2"], 200],
    [
      "version 1 where X-API-Version stands twice",
      "/api/platform/callback",
      ["X-API-Version: v2", "X-API-Version: v2"],
      400,
    ],
  ])("the version of a callback is %s", (_title, path, lines, status) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const answer = await rawExchange(receiver.publicOrigin, signed(event("of_version_2", {}), lines, path));
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      },
      { handlers: [second] },
    ),
  );
});

describe("SIGNATURE_TOLERANCE_SECONDS", () => {
  const now = Math.floor(Date.now() / 1000);
  it.each([
    ["a recent time", String(now), 200],
    ["a time just inside, in the future", String(now + 290), 200],
    ["an old time", String(now - 400), 401],
    ["a time far ahead", String(now + 400), 401],
    ["milliseconds", String(now * 1000), 401],
    ["no number", "soon", 401],
    ["an exponent", "1e9", 401],
    ["nothing", "", 401],
  ])("SIGNATURE_TOLERANCE_SECONDS judges %s", (_title, timestamp, status) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect((await receiver.send(payment(), { headers: { "x-timestamp": timestamp } })).status).toBe(status);
      },
      { env: { SIGNATURE_TOLERANCE_SECONDS: "300" } },
    ),
  );
});

describe("rotation of the signing secret", () => {
  it("a rotation lets both secrets verify and counts which one did", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect((await receiver.send(payment())).status).toBe(200);
        expect((await receiver.send(payment(), { secret: "the-secret-before-it-32-bytes-long" })).status).toBe(200);
        const text = String((await receiver.admin("/metrics")).body.text);
        expect(text).toContain('oncehook_credentials_used_total{source="platform",method="hmac",secret="current"} 1');
        expect(text).toContain('oncehook_credentials_used_total{source="platform",method="hmac",secret="previous"} 1');
      },
      { env: { SIGNING_SECRET_PREVIOUS: "the-secret-before-it-32-bytes-long" } },
    ));
});

describe("RECORD_RETENTION_DAYS", () => {
  it("the receiver refuses events whose record may be gone, and those more than a day ahead of this clock", () => {
    const now = Date.parse("2026-06-01T00:00:00Z") / 1000;
    return withReceiver(
      "sqlite",
      async (receiver) => {
        const statusOf = async (timestamp: number) => {
          const { status, body } = await receiver.send(payment({ timestamp }));
          if (status !== 200) expect(body).toEqual({ error: "the event's timestamp is too old" });
          return status;
        };
        const [oldest, newest] = [now - 10 * 86_400, now + 86_400];
        expect([await statusOf(oldest), await statusOf(oldest - 1)]).toEqual([200, 400]);
        expect([await statusOf(newest), await statusOf(newest + 1)]).toEqual([200, 400]);
      },
      { env: { RECORD_RETENTION_DAYS: "10" }, clock: { now: () => new Date(now * 1000) } },
    );
  });

  it.each([
    ["keeps the record, takes an old event", {}, 200],
    ["deletes the record, refuses an old event", { hasSignedTime: true, invalid: "refuse" as const }, 400],
  ])("a source for which it %s", (_title, settings, status) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const found = await deliverToShop(receiver, {
          id: "e1",
          time: Math.floor(Date.now() / 1_000) - 11 * 86_400,
        });
        expect(found.status).toBe(status);
      },
      { env: { RECORD_RETENTION_DAYS: "10" }, sources: { shop: shop(settings) } },
    ),
  );
});

describeFullOnPostgres("a fault of the database on %s", (dialect) => {
  it("a database error at COMMIT returns 500, is kept for a retry, and leaves no effects", () => {
    const handler = defineHandler({
      type: "breaks_commit",
      data: z.object({}),
      migrations: [EFFECTS],
      async handle({ tx }) {
        await tx.query.insertInto("children").values({ parent_id: 404 }).execute();
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const answer = await receiver.send(event("breaks_commit", {}));
        expect([answer.status, answer.body]).toEqual([500, { error: "internal error" }]);
        expect(await receiver.count("children")).toBe(0);
        expect(await receiver.count("oncehook_records")).toBe(0);
        expect(await receiver.count("oncehook_failures", "code = 'commit_failed'")).toBe(1);
      },
      { handlers: [handler] },
    );
  });

  it("an unavailable database returns 503 with Retry-After, and the redelivery is handled", () =>
    withDatabase(dialect, async (target) => {
      const env = { REQUEST_TIMEOUT_MS: "400", HANDLER_TIMEOUT_MS: "300" };
      const receiver = await startReceiver(target, { env });
      const sent = payment();
      const lock = "LOCK TABLE oncehook_records IN ACCESS EXCLUSIVE MODE";
      const answer = await withLock(target, lock, () => receiver.send(sent));
      expect([answer.status, answer.body, answer.headers.get("retry-after")]).toEqual([
        503,
        { error: "temporarily unavailable" },
        "5",
      ]);
      expect((await receiver.send(sent)).body).toEqual(paid);
      await receiver.stop();
    }));

  it("an unexpected database error returns 500 without any detail", () =>
    withReceiver(dialect, async (receiver) => {
      await execute(receiver.target, "ALTER TABLE oncehook_records RENAME TO elsewhere");
      const answer = await receiver.send(payment());
      expect([answer.status, answer.body]).toEqual([500, { error: "internal error" }]);
      const { body } = await receiver.admin("/api/v1/callbacks");
      expect(body.items).toMatchObject([{ outcome: "internal", error: expect.stringContaining("oncehook_records") }]);
      await execute(receiver.target, "ALTER TABLE elsewhere RENAME TO oncehook_records");
    }));

  it("a handler's error returns 500, and is logged, although its failure cannot be stored", () => {
    const handler = defineHandler({
      type: "fails",
      data: z.object({}),
      handle: () => Promise.reject(new Error("down")),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        await execute(receiver.target, "ALTER TABLE oncehook_failures RENAME TO elsewhere");
        expect((await receiver.send(event("fails", {}))).status).toBe(500);
        expect(receiver.lines.some(({ msg }) => msg === "the failure could not be stored for a retry")).toBe(true);
        await execute(receiver.target, "ALTER TABLE elsewhere RENAME TO oncehook_failures");
      },
      { handlers: [handler] },
    );
  });
});
