import { expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../src/domain/index.ts";
import { defineHandler, type Handler, Rejected } from "../../src/handlers/index.ts";
import type { Original } from "../../src/store/index.ts";
import { createEncryptor } from "../../src/system/index.ts";
import { CALLBACK_PATH, stripeCallback, VARIABLES, withApplication } from "../support/application.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { originalOf } from "../support/originals.ts";
import { event, payment, type ReceiverOptions, withReceiver } from "../support/receiver.ts";
import { BATCH, deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const orders = (handle: () => JsonObject = () => ({})): Handler =>
  defineHandler({ source: "shop", type: "order", data: z.looseObject({}), handle: async () => handle() });
const withShop = (settings: Parameters<typeof shop>[0] = {}, handler = orders()): ReceiverOptions => ({
  sources: { shop: shop(settings) },
  handlers: [handler],
});

const textOf = (original: Original | undefined) => Buffer.from(original?.body ?? []).toString();

describeFullOnPostgres("originals of callbacks on %s", (dialect) => {
  it("a handled event's headers and body are kept as they came, and nothing of them is readable in the database", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment({ event_id: "evt-kept" }, { note: "the readable word Kartoffel" });
      const headers = { "X-Of-Platform": "Zwiebelkuchen" };
      expect((await receiver.send(sent, { headers })).status).toBe(200);
      const original = await originalOf(receiver.target, { source: "platform", eventId: "evt-kept" });
      expect(JSON.parse(textOf(original))).toEqual(sent);
      expect(original).toMatchObject({ method: "POST", target: "/api/platform/callback", eventType: "payment_notify" });
      const names = original?.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()) ?? [];
      expect(names).toEqual(expect.arrayContaining(["host", "x-of-platform", "x-signature"]));
      expect(original?.rawHeaders).toContain("Zwiebelkuchen");
      const rows = await rowsOf(receiver.target, "SELECT * FROM oncehook_originals");
      expect(rows).toHaveLength(1);
      const stored = Object.values(rows[0] ?? {}).map((value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value),
      );
      expect(stored.join("\n")).not.toMatch(/Kartoffel|Zwiebelkuchen|evt-kept|payment_notify/);
    }));

  it("a duplicate adds no original", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      for (let delivery = 0; delivery < 3; delivery += 1) await receiver.send(sent);
      expect(await receiver.count("oncehook_originals")).toBe(1);
    }));

  it("a source with keep 0 keeps no originals, and KEEP_ORIGINALS=0 switches them off for all others", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1" });
        expect(await receiver.count("oncehook_originals")).toBe(0);
        await receiver.send(payment());
        expect(await receiver.count("oncehook_originals")).toBe(0);
        expect(await receiver.count("oncehook_records")).toBe(2);
      },
      { ...withShop({ keep: "0" }, orders()), env: { KEEP_ORIGINALS: "0", HANDLERS: "payment_notify" } },
    ));

  it("a source's own keep counts, whatever KEEP_ORIGINALS says", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1" });
        const [row] = await rowsOf(receiver.target, "SELECT keep_until, newest_at FROM oncehook_originals");
        const keptMs = Date.parse(String(row?.keep_until)) - Date.parse(String(row?.newest_at));
        expect(Math.round(keptMs / 86_400_000)).toBe(90);
      },
      { ...withShop({ keep: "90d" }), env: { KEEP_ORIGINALS: "0" } },
    ));

  it("an accepted event has its original before it has run, and one that failed or was rejected keeps it", () => {
    const errors: (Error | undefined)[] = [new Error("down"), new Rejected("no such order")];
    const failing = orders(() => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return {};
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["failed", "rejected"]) {
          await deliverToShop(receiver, { id, mark: `mark of ${id}` });
          expect(textOf(await originalOf(receiver.target, { source: "shop", eventId: id }))).toContain(`mark of ${id}`);
        }
        expect(await receiver.count("oncehook_failures")).toBe(2);
        await deliverToShop(receiver, { id: "handled" });
        expect(await receiver.count("oncehook_originals")).toBe(3);
      },
      withShop({ answer: "inline" }, failing),
    );
  });

  it("an event of answer mode `after` has its original with its acceptance, and no second one", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(200);
        expect(textOf(await originalOf(receiver.target, { source: "shop", eventId: "e1" }))).toContain('"id":"e1"');
        expect(await receiver.count("oncehook_originals")).toBe(1);
      },
      withShop({ answer: "after" }),
    ));

  it("each event of a batch has its own item as its original", () => {
    const events = [1, 2, 3].map((number) => ({ id: `e${number}`, type: "order", n: number }));
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "batch", events })).status).toBe(200);
        const second = await originalOf(receiver.target, { source: "shop", eventId: "e2" });
        expect(textOf(second)).toContain('"n":2');
        expect(textOf(second)).not.toContain('"n":1');
      },
      withShop(BATCH),
    );
  });

  it("events of types without a handler, or that filters leave out, have originals once the log has their entries", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const type of ["refund", "left.out", "order"]) await deliverToShop(receiver, { id: `of ${type}`, type });
        expect((await receiver.send(event("no_such_type", {}, { event_id: "evt-refused" }))).status).toBe(400);
        await until(async () => (await receiver.count("oncehook_callbacks", "with_record = 0")) === 3);
        for (const type of ["refund", "left.out"])
          expect(textOf(await originalOf(receiver.target, { source: "shop", eventId: `of ${type}` }))).toContain(type);
        const refused = await originalOf(receiver.target, { source: "platform", eventId: "evt-refused" });
        expect(refused?.eventType).toBe("no_such_type");
        expect(await receiver.count("oncehook_records")).toBe(1);
      },
      withShop({ ignore: ["left.*"] }),
    ));

  it("ignored events of a source with keep 0 have no originals, and items of a batch have theirs", () => {
    const sources = {
      shop: shop({ keep: "0" }),
      many: shop({ path: "/many", ...BATCH }),
    };
    return withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1", type: "refund" });
        const body = Buffer.from(JSON.stringify({ events: [1, 2].map((n) => ({ id: `i${n}`, type: "refund", n })) }));
        const headers = { ...shop().sign?.({ body, now: new Date() }) };
        expect((await fetch(`${receiver.publicOrigin}/many`, { method: "POST", body, headers })).status).toBe(200);
        await until(async () => (await receiver.count("oncehook_callbacks", "event_id IS NOT NULL")) === 3);
        expect(await originalOf(receiver.target, { source: "shop", eventId: "e1" })).toBeUndefined();
        const item = textOf(await originalOf(receiver.target, { source: "many", eventId: "i2" }));
        expect(item).toContain('"n":2');
        expect(item).not.toContain('"n":1');
      },
      { sources, handlers: [orders(), { ...orders(), source: "many" }] },
    );
  });

  it("a receiver in an application keeps originals too", () =>
    withDatabase(dialect, async (target) => {
      const callback = stripeCallback();
      await withApplication(target, async ({ receiver }) => {
        const { headers, body } = callback;
        const request = new Request(`https://app.example${CALLBACK_PATH}`, { method: "POST", body, headers });
        expect((await receiver.fetch(request)).status).toBe(200);
      });
      const encryptor = createEncryptor(Buffer.from(VARIABLES.ENCRYPTION_KEY, "base64"));
      const original = await originalOf(target, { source: "billing", eventId: callback.id }, encryptor);
      expect(textOf(original)).toBe(callback.body);
    }));
});
