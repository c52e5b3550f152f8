import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { databaseFile, describeFullOnPostgres, fullOnPostgres, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { event, payment, SECRET, startReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

const CANARY = "canary-0123456789";
const leaky = defineHandler({
  type: "leaky",
  data: z.record(z.string(), z.unknown()),
  handle() {
    throw new Error(`cannot use password=${CANARY} with ${SECRET}`);
  },
});

describeFullOnPostgres("the callback log on %s", (dialect) => {
  it("the log has every field of SPEC 1.8 for a success, in the store and as one line", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      const answer = await receiver.send(sent, { path: "/api/v1/platform/callback?a=1" });
      const expected = {
        method: "POST",
        url: "/api/v1/platform/callback?a=1",
        remote_address: "127.0.0.1",
        event_id: sent.event_id,
        event_type: "payment_notify",
        outcome: "success",
        error: null,
        request_id: answer.headers.get("x-request-id"),
      };
      const [row] = await wholeCallbacks(receiver);
      expect(row).toMatchObject({
        ...expected,
        response_status: 200,
        response_body: JSON.stringify(answer.body),
      });
      expect(JSON.parse(String(row?.body))).toEqual(sent);
      expect(row?.headers).toMatchObject({ "x-signature": "[masked]", "x-event-type": "payment_notify" });
      expect(row?.processing_ms).toBeGreaterThan(0);
      expect(Date.parse(String(row?.timestamp))).toBeGreaterThan(Date.now() - 60_000);
      const lines = receiver.lines.filter(({ msg }) => msg === "callback");
      expect(lines).toMatchObject([{ ...expected, status: 200, level: 30 }]);
    }));

  it("the log has one entry and one line for each callback, refused ones with their reason", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      await receiver.send(sent);
      await receiver.send(sent);
      await receiver.send(payment(), { secret: "q".repeat(32) });
      await receiver.send(payment(), { headers: { "x-signature": "no" } });
      await receiver.send({}, { raw: "{" });
      const { body } = await receiver.admin("/api/v1/callbacks");
      const outcomes = ["body_not_json", "signature_malformed", "signature_mismatch", "already_processed", "success"];
      expect((body.items as { outcome: string }[]).map(({ outcome }) => outcome)).toEqual(outcomes);
      expect(receiver.lines.filter(({ msg }) => msg === "callback").map(({ outcome }) => outcome)).toEqual(
        outcomes.reverse(),
      );
    }));

  it("the log never holds a secret: not in rows, lines, errors, failures or metrics", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const secrets = {
          code: CANARY,
          access_token: CANARY,
          nested: [{ cardNumber: CANARY, PASSWORD: CANARY }],
        };
        const headers = {
          authorization: `Bearer ${CANARY}`,
          cookie: `a=${CANARY}`,
          "x-api-key": CANARY,
          "x-my-token": CANARY,
        };
        const path = `/api/platform/callback?code=${CANARY}&access_token=${CANARY}`;
        for (const type of ["leaky", "webhook_message"]) {
          const data = { ...secrets, message: { refresh_token: CANARY } };
          await receiver.send(event(type, data), { headers, path });
          await receiver.send(event(type, data), { headers, path, secret: "q".repeat(32) });
        }
        await receiver.send({}, { raw: `code=${CANARY}&state=${CANARY}`, headers });
        await receiver.send({}, { raw: `not json, its token: ${CANARY}`, headers });
        const shown = await Promise.all(
          ["/api/v1/callbacks", "/api/v1/failures", "/api/v1/events", "/metrics"].map((at) => receiver.admin(at)),
        );
        const bodies = shown.map(({ body }) => body);
        const everything = JSON.stringify([bodies, await wholeCallbacks(receiver), receiver.lines]);
        expect(everything).toContain("[masked]");
        for (const secret of [CANARY, SECRET, TOKEN]) expect(everything.includes(secret)).toBe(false);
      },
      { handlers: [leaky] },
    ));

  it(
    "the log keeps no more of a flood of garbage than its bound, counts the rest, and keeps every authentic callback",
    { tags: fullOnPostgres(dialect) },
    () =>
      withReceiver(dialect, async (receiver) => {
        for (let index = 0; index < 14; index += 1) {
          await Promise.all(Array.from({ length: 50 }, () => receiver.send({}, { secret: "q".repeat(32), raw: "{}" })));
        }
        const answer = await rawExchange(receiver.publicOrigin, "no request at all\r\n\r\n");
        expect(answer).toMatch(/^HTTP\/1\.1 400 /);
        const sent = payment();
        for (let delivery = 0; delivery < 2; delivery += 1) await receiver.send(sent);
        await receiver.admin("/api/v1/callbacks");
        expect(await receiver.count("oncehook_callbacks", "outcome = 'malformed_request'")).toBe(0);
        expect(await receiver.count("oncehook_callbacks", "outcome = 'already_processed'")).toBe(1);
        expect(await receiver.count("oncehook_callbacks", "response_status = 401")).toBe(600);
        expect(receiver.lines.filter(({ status }) => status === 401)).toHaveLength(600);
        expect(await receiver.count("oncehook_callbacks", "outcome = 'success'")).toBe(1);
        const { body } = await receiver.admin("/metrics");
        expect(body.text).toContain('oncehook_callback_log_dropped_total{reason="rejected_bound"} 101');
        expect(body.text).toContain('callback_requests_total{event_type="unknown",status="401"} 700');
      }),
  );

  it("the log masks JSON that a source has in base64, also of a refused callback at another address", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const encoded = (person: object) => Buffer.from(JSON.stringify(person)).toString("base64");
        const data = encoded({ email: "ada@example.com", password: CANARY, order: 7 });
        await deliverToShop(receiver, { id: "e1", data });
        await receiver.send({}, { raw: JSON.stringify({ data }), secret: "q".repeat(32) });
        const masked = encoded({ email: "[masked]", password: "[masked]", order: 7 });
        const [refused, authentic] = await wholeCallbacks(receiver);
        expect(JSON.parse(authentic?.body ?? "")).toEqual({ type: "order", id: "e1", data: masked });
        expect(JSON.parse(refused?.body ?? "")).toEqual({ data: masked });
      },
      { sources: { shop: shop({ decode: [{ at: "body.data", as: "base64-json" }] }) }, env: { MASK_KEYS: "email" } },
    ));

  it("the log keeps a refused body as it came, and the beginning of a long one with its length and hash", () =>
    withReceiver(dialect, async (receiver) => {
      const raw = '{\n  "event_id" : "e1",\n  "amount": 1.50, "pin": 1234\n}\n';
      const long = `["{"${',"{"'.repeat(65_536)}]`;
      for (const one of [raw, long]) await receiver.send({}, { raw: one, secret: "q".repeat(32) });
      const [second, first] = await wholeCallbacks(receiver);
      expect(first?.body).toBe(raw.replace("1234", '"[masked]"'));
      expect(JSON.parse(second?.body ?? "")).toEqual({
        truncated: true,
        bytes: long.length,
        sha256: createHash("sha256").update(long).digest("hex"),
        start: long.slice(0, 2_048),
      });
    }));

  it("the log has an entry and a line for requests to unknown addresses, once these are due", () =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target);
      try {
        for (const path of ["/wp-login.php?token=abc", "/other"])
          expect((await fetch(receiver.publicOrigin + path)).status).toBe(404);
      } finally {
        // What is left of the minute is said at the end.
        await receiver.stop();
      }
      const left = { reason: "unknown_address", outcome: "not_found", addresses: 1, left_out: 2 };
      expect(receiver.lines).toContainEqual(expect.objectContaining({ ...left, url: "/wp-login.php?token=[masked]" }));
      const rows = await rowsOf(
        target,
        "SELECT url, outcome, response_status, left_out FROM oncehook_callbacks WHERE left_out IS NOT NULL",
      );
      expect(rows).toEqual([
        {
          url: "/wp-login.php?token=[masked]",
          outcome: "not_found",
          response_status: 404,
          left_out: expect.stringContaining('"reason":"unknown_address","count":2,"addresses":1'),
        },
      ]);
    }));
});

describe("the metrics", () => {
  it("keep to known types however many others come", () =>
    withReceiver("sqlite", async (receiver) => {
      for (let index = 0; index < 20; index += 1) await receiver.send(event(`type-${index}`, {}));
      await receiver.send(payment());
      const text = String((await receiver.admin("/metrics")).body.text);
      const series = text.split("\n").filter((line) => line.startsWith("callback_requests_total{"));
      expect(series.sort()).toEqual([
        'callback_requests_total{event_type="payment_notify",status="200"} 1',
        'callback_requests_total{event_type="unknown",status="400"} 20',
      ]);
    }));

  it.each([
    "callback_duration_seconds_count 1",
    "oncehook_in_flight 0",
    'oncehook_failures{state="waiting"} 0',
    'oncehook_attempts_total{source="platform",kind="inline",outcome="success"} 1',
    'oncehook_credentials_used_total{source="platform",method="hmac",secret="current"} 1',
    'oncehook_callback_outcomes_total{source="platform",outcome="success"} 1',
    "nodejs_eventloop_lag_seconds ",
    "process_cpu_seconds_total ",
  ])("the metrics tell %s", (line) =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(payment());
      expect((await receiver.admin("/metrics")).body.text).toContain(`\n${line}`);
    }),
  );
});

describe("the database file", () => {
  it("the database file holds no token in the clear after an authorization", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(event("user_authorized", { code: CANARY, user_id: "u1" }));
      const file = databaseFile(receiver.target);
      const bytes = Buffer.concat([await readFile(file), await readFile(`${file}-wal`)]);
      expect(bytes.includes("access_token")).toBe(false);
      expect(bytes.includes(CANARY)).toBe(false);
    }));
});
