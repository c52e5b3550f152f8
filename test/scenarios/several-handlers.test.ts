import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type Handler, Rejected } from "../../src/handlers/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { conforms } from "../support/openapi.ts";
import { event, type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

type Does = (id: string) => unknown;

/** A handler of the shop's orders, and what it has run. */
function handlerOf(name: string | undefined, does: Does = () => undefined, type = "order") {
  const runs: string[] = [];
  const handler: Handler = defineHandler({
    source: "shop",
    ...(name !== undefined && { name }),
    type,
    data: z.looseObject({}),
    async handle({ event: { event_id }, source, notify }) {
      runs.push(event_id);
      await notify("ran", { by: name ?? "none" });
      await does(event_id);
      return { by: name ?? "none", source };
    },
  });
  return { handler, runs };
}

const options = (
  handlers: readonly { readonly handler: Handler }[],
  over: ReceiverOptions = {},
  settings: Parameters<typeof shop>[0] = {},
): ReceiverOptions => ({
  sources: { shop: shop(settings) },
  handlers: handlers.map(({ handler }) => handler),
  ...over,
});

const recordsOf = (receiver: TestReceiver) =>
  rowsOf(receiver.target, "SELECT source, event_id, status FROM oncehook_records ORDER BY source, event_id");
const failuresOf = (receiver: TestReceiver) =>
  rowsOf(receiver.target, "SELECT source, event_id, state, code FROM oncehook_failures ORDER BY source");
/** Whose runs have had an effect: a group that is undone runs a handler again. */
const notified = async ({ target }: TestReceiver) =>
  (await rowsOf(target, "SELECT source FROM oncehook_notifications ORDER BY source")).map(({ source }) => source);

describe.each(DIALECTS)("several handlers of one type on %s", (dialect) => {
  it("each runs once, with a record and notifications of its own, and the response is of the one without a name", () => {
    const [audit, plain] = [handlerOf("audit"), handlerOf(undefined)];
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1" })).toEqual({
          status: 200,
          body: { status: "success", data: { by: "none", source: "shop" } },
        });
        expect(await deliverToShop(receiver, { id: "e1" })).toEqual({
          status: 200,
          body: { status: "already_processed" },
        });
        expect([plain.runs, audit.runs]).toEqual([["e1"], ["e1"]]);
        expect(await recordsOf(receiver)).toEqual([
          { source: "shop", event_id: "e1", status: "completed" },
          { source: "shop#audit", event_id: "e1", status: "completed" },
        ]);
        expect(await receiver.count("oncehook_notifications", "source = 'shop#audit'")).toBe(1);
      },
      options([audit, plain]),
    );
  });

  it("the sources list tells them apart by their names", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const answer = await receiver.admin("/api/v1/sources");
        conforms("/api/v1/sources", "get", answer);
        const { handlers } = answer.body as {
          handlers: { source: string; event_type: string; name: unknown }[];
        };
        const ofShop = handlers.filter(({ source }) => source === "shop");
        expect(ofShop.map(({ event_type, name }) => [event_type, name])).toEqual([
          ["order", null],
          ["order", "audit"],
        ]);
      },
      options([handlerOf(undefined), handlerOf("audit")]),
    ));

  it("one that fails makes the response a failure, and the next delivery runs it alone", () => {
    let isDown = true;
    const plain = handlerOf(undefined);
    const audit = handlerOf("audit", () => {
      if (isDown) throw new Error("no room for the audit");
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(500);
        expect(await failuresOf(receiver)).toEqual([
          { source: "shop#audit", event_id: "e1", state: "waiting", code: "handler_failed" },
        ]);
        isDown = false;
        expect((await deliverToShop(receiver, { id: "e1" })).body).toMatchObject({
          status: "success",
          data: { by: "audit" },
        });
        expect(await notified(receiver)).toEqual(["shop", "shop#audit"]);
        expect(await failuresOf(receiver)).toEqual([]);
      },
      options([plain, audit]),
    );
  });

  it("a replay, and the pages of failures and of the event, know the run of each by its source", () => {
    let isDown = true;
    const plain = handlerOf(undefined);
    const audit = handlerOf("audit", () => {
      if (isDown) throw new Error("no room for the audit");
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1" });
        const path = `${encodeURIComponent("shop#audit")}/e1`;
        const listed = await receiver.admin(`/api/v1/failures?source=${encodeURIComponent("shop#audit")}`);
        expect(listed.body).toMatchObject({ items: [{ source: "shop#audit", event_id: "e1" }] });
        isDown = false;
        const replayed = await receiver.admin(`/api/v1/failures/${path}/replay`, { method: "POST" });
        expect(replayed.body).toMatchObject({ outcome: "success" });
        expect(await notified(receiver)).toEqual(["shop", "shop#audit"]);
        const { timeline } = (await receiver.admin(`/api/v1/events/${path}`)).body as { timeline: object[] };
        expect(timeline).toContainEqual(expect.objectContaining({ by: "replay", outcome: "success" }));
        expect(timeline).toContainEqual(expect.objectContaining({ by: "callback", outcome: "handler_failed" }));
      },
      options([plain, audit]),
    );
  });

  it("a handler that rejects leaves an event of its own, and the platform gets one response", () => {
    const plain = handlerOf(undefined, (id) => {
      throw new Rejected(`no such order: ${id}`);
    });
    const audit = handlerOf("audit", (id) => {
      if (id === "e2") throw new Rejected("nothing to audit");
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(200);
        expect(await deliverToShop(receiver, { id: "e2" })).toMatchObject({ status: 200 });
        expect(await receiver.count("oncehook_failures", "state = 'rejected'")).toBe(3);
      },
      options([plain, audit]),
    );
  });

  it("a handler with a name takes its patterns beside the handlers of single types", () => {
    const [paid, audit] = [handlerOf(undefined, undefined, "invoice.paid"), handlerOf("audit", undefined, "*")];
    return withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1", type: "invoice.paid" });
        const response = await deliverToShop(receiver, { id: "e2", type: "invoice.draft" });
        expect(response.body).toMatchObject({ status: "success", data: { by: "audit" } });
        expect([paid.runs, audit.runs]).toEqual([["e1"], ["e1", "e2"]]);
        await until(async () => (await receiver.count("oncehook_callbacks")) === 4);
        const rows = await rowsOf(
          receiver.target,
          "SELECT source, event_id FROM oncehook_callbacks ORDER BY event_id, source",
        );
        expect(rows.filter(({ event_id }) => event_id !== null)).toEqual([
          { source: "shop", event_id: "e1" },
          { source: "shop#audit", event_id: "e1" },
          { source: "shop#audit", event_id: "e2" },
        ]);
      },
      options([paid, audit]),
    );
  });

  it("answer mode `after` accepts an event for each handler, and each one retries by itself", () => {
    const [plain, audit] = [handlerOf(undefined), handlerOf("audit")];
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "e1" })).body).toEqual({ status: "accepted" });
        await until(async () => (await receiver.count("oncehook_records")) === 2);
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect([plain.runs, audit.runs]).toEqual([["e1"], ["e1"]]);
      },
      options([plain, audit], { retryPollMs: 50 }, { answer: "after" }),
    );
  });

  it("`within` is accepted where one is slow, whether another rejects or not", () => {
    const gate = Promise.withResolvers<void>();
    const plain = handlerOf(undefined, () => {
      throw new Rejected("no such order");
    });
    const slow = defineHandler({
      source: "shop",
      name: "slow",
      type: "order",
      data: z.looseObject({}),
      prepare: () => gate.promise.then(() => null),
      handle: () => ({}),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverToShop(receiver, { id: "e1" })).toEqual({
          status: 200,
          body: { status: "accepted" },
        });
        gate.resolve();
        await until(async () => (await receiver.count("oncehook_records")) === 1);
      },
      options([plain, { handler: slow }], {}, { answer: { within: "200ms" } }),
    );
  });

  it("many deliveries of one event at once run each handler once", () => {
    const [plain, audit, mail] = [handlerOf(undefined), handlerOf("audit"), handlerOf("mail")];
    return withReceiver(
      dialect,
      async (receiver) => {
        const ids = Array.from({ length: 12 }, (_, index) => `e${index % 4}`);
        const responses = await Promise.all(ids.map((id) => deliverToShop(receiver, { id })));
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
        for (const { runs } of [plain, audit, mail]) expect(new Set(runs)).toEqual(new Set(ids));
        expect(await receiver.count("oncehook_records")).toBe(12);
        expect(await receiver.count("oncehook_notifications")).toBe(12);
      },
      options([plain, audit, mail]),
    );
  });

  it("the specification's platform has several handlers too, and its duplicates are known whatever their type", () => {
    const runs: string[] = [];
    const of = (name?: string) =>
      defineHandler({
        ...(name !== undefined && { name }),
        type: "order_placed",
        data: z.looseObject({}),
        handle: () => ({ ran: runs.push(name ?? "none") }),
      });
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("order_placed", {});
        expect((await receiver.send(sent)).body).toMatchObject({ status: "success" });
        expect((await receiver.send({ ...sent, event_type: "unknown" })).body).toEqual({
          status: "already_processed",
        });
        expect((await receiver.send(event("unknown", {}))).status).toBe(400);
        expect(runs.toSorted()).toEqual(["audit", "none"]);
      },
      { handlers: [of(), of("audit")] },
    );
  });
});

describe("the names of handlers", () => {
  it.each(["", "Audit", "a#b", 7])("defineHandler refuses the name %j", (name) => {
    const definition = { name, type: "order", data: z.object({}), handle: () => ({}) };
    expect(() => defineHandler(definition as never)).toThrow("`name`: got");
  });

  it("two handlers of one type under one name are refused at the start", () =>
    withReceiver("sqlite", async () => {}, options([handlerOf("audit"), handlerOf("audit")])).then(
      () => expect.unreachable(),
      (error: Error) => expect(error.message).toContain('"order" of the source shop in v1 under the name audit'),
    ));
});
