import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { z } from "zod";
import { backfillOnce } from "../../src/app/index.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { encryptOriginals } from "../../src/store/index.ts";
import { describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { ENCRYPTOR, erase, everything } from "../support/erasure.ts";
import { execute } from "../support/execute.ts";
import type { Target } from "../support/open-target.ts";
import { originalOf } from "../support/originals.ts";
import { type TestReceiver, testConfig, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { ALL, withShop } from "../support/stored-events.ts";
import { until } from "../support/until.ts";

const CUSTOMER = "cus_of_the_erased_person";
const WHERE = { path: "customer", value: CUSTOMER };

/** A handler that keeps the customer wherever it can: in its result and in the text of a notification. */
const handlerOf = (name?: string) =>
  defineHandler({
    source: "shop",
    ...(name !== undefined && { name }),
    type: "order",
    data: z.looseObject({}),
    async handle({ event, notify }) {
      await notify("ordered", { text: `order of ${String(event.data.customer)}` });
      return { seen: event.data as JsonObject };
    },
  });

const post = (receiver: TestReceiver, path: string, body?: object) =>
  receiver.admin(path, {
    method: "POST",
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });

/** As merging writes them. */
async function addBlocks(target: Target, block: Uint8Array, count: number): Promise<void> {
  const [before, after] = target.dialect === "sqlite" ? ["x'", "'"] : ["'\\x", "'"];
  const row = `(1, '2999-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', 1, 2, ${before}${Buffer.from(block).toString("hex")}${after})`;
  const columns = "is_merged, keep_until, newest_at, first_callback_id, last_callback_id, encrypted_block";
  const rows = Array.from({ length: count }, () => row).join(", ");
  await execute(target, `INSERT INTO oncehook_originals (${columns}) VALUES ${rows}`);
}

describeFullOnPostgres("what an erasure finds on %s", (dialect) => {
  it("an erasure removes what a handler made that came after the event", () =>
    withMigrated(dialect, async (target) => {
      const handlers = [handlerOf(), handlerOf("audit")];
      await withShop(target, { handlers: [handlerOf()] }, async (receiver) => {
        await deliverToShop(receiver, { id: "e1", customer: CUSTOMER });
        await deliverToShop(receiver, { id: "e2", customer: "cus_other" });
      });
      await withShop(target, { handlers, env: { RECORD_STATEMENTS: "true" } }, async (receiver) => {
        const config = testConfig(target, {}, { sources: { shop: shop() } });
        await backfillOnce({ config, handlers, migrations: [] }, { ...ALL, handler: "shop#audit" });
        await until(async () => (await receiver.count("oncehook_records")) === 4);
        expect((await erase(receiver, WHERE)).body).toMatchObject({ events: 1, originals: 1, notifications: 2 });
        const left = await everything(receiver);
        expect(left).not.toContain(CUSTOMER);
        expect(left.match(/order of cus_other/g)?.length).toBeGreaterThanOrEqual(2);
      });
    }));

  const SEALED = {
    decrypt: (body: JsonValue) => ({ value: parseJson(Buffer.from(String(body), "hex").toString()) as JsonValue }),
    encrypt: (plain: JsonValue) => Buffer.from(JSON.stringify(plain)).toString("hex"),
  };
  const EVENT = { id: "e1", type: "order", customer: CUSTOMER };
  const PAYLOAD = JSON.stringify({ customer: CUSTOMER });
  const inMessage = (message: string) => JSON.stringify({ id: "e1", type: "order", message });
  const FORM = { "content-type": "application/x-www-form-urlencoded" };
  const FORM_BODY = new URLSearchParams({ payload: JSON.stringify(EVENT) }).toString();

  it.each<[string, Parameters<typeof shop>[0], { body: string | Buffer; headers?: object; path?: string }]>([
    ["a form's field", { body: { form: "payload" } }, { body: FORM_BODY, headers: FORM }],
    ["a form's field, without originals", { body: { form: "payload" }, keep: "0" }, { body: FORM_BODY, headers: FORM }],
    [
      "a text that is JSON",
      { decode: [{ at: "body.message", as: "json" }] },
      { body: inMessage(PAYLOAD), path: "message.customer" },
    ],
    [
      "a text in base64",
      { decode: [{ at: "body.message", as: "base64-json" }] },
      { body: inMessage(Buffer.from(PAYLOAD).toString("base64")), path: "message.customer" },
    ],
    [
      "the payload's place",
      { decode: [{ at: "body.message", as: "base64-json" }], data: "body.message" },
      { body: inMessage(Buffer.from(PAYLOAD).toString("base64")) },
    ],
    [
      "a compressed body",
      { gzip: true },
      { body: gzipSync(JSON.stringify(EVENT)), headers: { "content-encoding": "gzip" } },
    ],
    ["an encrypted body", SEALED, { body: JSON.stringify(SEALED.encrypt(EVENT)) }],
  ])("an erasure finds a value in %s, as its handler saw it", (_, settings, { body, headers, path = "customer" }) =>
    withReceiver(
      dialect,
      async (receiver) => {
        const bytes = Buffer.from(body);
        const signed = { ...headers, ...shop(settings).sign?.({ body: bytes, now: new Date() }) };
        const url = `${receiver.publicOrigin}/api/shop/callback`;
        expect((await fetch(url, { method: "POST", body: bytes, headers: signed })).status).toBe(200);
        await until(async () => (await receiver.count("oncehook_captured_requests")) === 1);
        expect((await erase(receiver, { path, value: CUSTOMER })).body).toMatchObject({ events: 1, captures: 1 });
        const left = await everything(receiver);
        for (const form of [CUSTOMER, bytes.toString(), Buffer.from(PAYLOAD).toString("base64")])
          expect(left).not.toContain(form);
      },
      { sources: { shop: shop(settings) }, handlers: [handlerOf()], env: { CAPTURE: "on" } },
    ),
  );

  it("an erased event that a backfill has read ahead does not run", () =>
    withMigrated(dialect, async (target) => {
      await withShop(target, { handlers: [handlerOf()] }, async (receiver) => {
        for (const id of ["e1", "e2", "e3"]) await deliverToShop(receiver, { id, customer: `${CUSTOMER}_${id}` });
      });
      const handlers = [handlerOf(), handlerOf("audit")];
      await withShop(target, { handlers, backfillPollMs: 20 }, async (receiver) => {
        const ranForAudit = () => receiver.count("oncehook_records", "source = 'shop#audit'");
        const asked = { handler: "shop#audit", since: "2026-01-01T00:00:00Z", per_second: 4 };
        const { body } = await post(receiver, "/api/v1/backfills", asked);
        await until(async () => (await ranForAudit()) === 1);
        await erase(receiver, { path: "customer", value: `${CUSTOMER}_e3` });
        const progress = async () => (await receiver.admin(`/api/v1/backfills/${(body as { id: number }).id}`)).body;
        await until(async () => ((await progress()) as { erased: number }).erased === 1);
        await until(async () => (await ranForAudit()) === 2);
        expect(await progress()).toMatchObject({ accepted: 2, erased: 1 });
        expect(await everything(receiver)).not.toContain(`${CUSTOMER}_e3`);
      });
    }));

  it("an erased event that came while its source had no handler is given to no backfill", () =>
    withMigrated(dialect, async (target) => {
      await withShop(target, {}, async (receiver) => {
        for (const id of ["e1", "e2"]) await deliverToShop(receiver, { id, customer: `${CUSTOMER}_${id}` });
        const where = { path: "customer", value: `${CUSTOMER}_e1` };
        expect((await erase(receiver, where)).body).toMatchObject({ events: 1 });
      });
      const config = testConfig(target, {}, { sources: { shop: shop() } });
      const counts = await backfillOnce({ config, handlers: [handlerOf()], migrations: [] }, ALL);
      expect(counts).toMatchObject({ accepted: 1, erased: 1 });
    }));

  it("an erasure waits for a retry and a replay that are at work, and removes what they made", async () => {
    const gate = { isOpen: Promise.resolve(), fails: true, entered: 0 };
    const slow = defineHandler({
      source: "shop",
      type: "order",
      data: z.looseObject({}),
      async handle({ event, notify }) {
        gate.entered += 1;
        if (event.event_id === "failed" && gate.fails) throw new Error("the warehouse is closed");
        await gate.isOpen;
        await notify("ordered", { text: `order of ${String(event.data.customer)}` });
        return { seen: event.data as JsonObject };
      },
    });
    await withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "handled", customer: CUSTOMER });
        await deliverToShop(receiver, { id: "failed", customer: CUSTOMER });
        const { promise, resolve: open } = Promise.withResolvers<void>();
        Object.assign(gate, { isOpen: promise, fails: false, entered: 0 });
        const runs = [
          post(receiver, "/api/v1/failures/shop/failed/replay"),
          post(receiver, "/api/v1/events/shop/handled/replay", { reason: "a test" }),
        ];
        // SQLite runs one handler at a time.
        await until(() => gate.entered === (dialect === "sqlite" ? 1 : 2));
        const erased = erase(receiver, WHERE);
        // The first run's notification is erased before anything is waited for.
        const isBegun = () => receiver.count("oncehook_notifications", "payload NOT LIKE '%cus%'");
        if (dialect === "postgres") await until(async () => (await isBegun()) === 1);
        open();
        await Promise.all(runs);
        expect((await erased).body).toMatchObject({ events: 2 });
        expect(await everything(receiver)).not.toContain(CUSTOMER);
      },
      { sources: { shop: shop({ answer: "inline" }) }, handlers: [slow] },
    );
  });

  it("an erasure removes order keys that are the value, titles of problems with it, and a value of any characters", () => {
    const person = "cus_1 of a person";
    const order = defineHandler({
      source: "shop",
      type: "order",
      orderBy: "data.customer",
      data: z.looseObject({ customer: z.string(), fails: z.boolean().optional() }),
      async handle({ event }) {
        if (event.data.fails) throw new Error(`no account of ${event.data.customer}`);
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1", customer: person });
        await deliverToShop(receiver, { id: "e2", customer: "cus_2" });
        await deliverToShop(receiver, { id: "e3", customer: person, fails: true });
        await receiver.admin("/api/v1/problems");
        await until(async () => (await receiver.count("oncehook_problem_states")) === 1);
        expect((await erase(receiver, { path: "customer", value: person })).body).toMatchObject({ events: 2 });
        const left = await everything(receiver);
        expect(left).not.toContain(person);
        expect(left).toContain("order cus_2");
        const surrogate = { id: "e4", customer: "name\ud83d of a person" };
        await deliverToShop(receiver, surrogate);
        const { status, body } = await erase(receiver, { path: "customer", value: surrogate.customer });
        expect([status, body]).toEqual([200, expect.objectContaining({ events: 1 })]);
      },
      { sources: { shop: shop({ answer: "inline" }) }, handlers: [order] },
    );
  });

  it("callbacks are answered while an erasure reads large blocks of originals", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1" });
        const original = await originalOf(receiver.target, { source: "shop", eventId: "e1" });
        if (original === undefined) throw new Error("it is not kept");
        const block = encryptOriginals(
          Array.from({ length: 900 }, () => original),
          ENCRYPTOR,
        );
        await addBlocks(receiver.target, block, 40);
        const order: string[] = [];
        const erased = erase(receiver, WHERE, "?dry_run=true").then(() => order.push("erased"));
        for (let n = 0; n < 5; n += 1) order.push((await deliverToShop(receiver, { id: `c${n}` })).body.status ?? "");
        await erased;
        expect(order).toEqual([...Array.from({ length: 5 }, () => "success"), "erased"]);
      },
      { sources: { shop: shop({ answer: "inline" }) }, handlers: [handlerOf()] },
    ));
});
