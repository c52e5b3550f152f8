import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type Handler } from "../../src/handlers/index.ts";
import { type Dialect, describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

type Settings = Parameters<typeof shop>[0];

const IGNORED = { status: 200, body: { status: "ignored" } };
const SUCCESS = { status: 200, body: { status: "success" } };

/** A receiver whose handler takes every type, and the ids that it has run. */
function filtered(
  dialect: Dialect,
  settings: Settings,
  use: (receiver: TestReceiver, ran: readonly string[]) => Promise<void>,
) {
  const ran: string[] = [];
  const everything: Handler = defineHandler({
    source: "shop",
    type: "*",
    data: z.looseObject({}),
    handle({ event }) {
      ran.push(event.event_id);
      return { live: (event.data.live as boolean | undefined) ?? null };
    },
  });
  return withReceiver(dialect, (receiver) => use(receiver, ran), {
    sources: { shop: shop(settings) },
    handlers: [everything],
    retryPollMs: 50,
  });
}

describeFullOnPostgres("the filters of a source on %s", (dialect) => {
  it("a type that `only` does not name is ignored before any handler, and leaves no record", () =>
    filtered(dialect, { only: ["invoice.*", "refund"] }, async (receiver, ran) => {
      expect(await deliverToShop(receiver, { id: "e1", type: "order" })).toEqual(IGNORED);
      expect(await deliverToShop(receiver, { id: "e2", type: "refunds" })).toEqual(IGNORED);
      expect(await deliverToShop(receiver, { id: "e3", type: "invoice.paid" })).toMatchObject(SUCCESS);
      expect(await deliverToShop(receiver, { id: "e4", type: "refund" })).toMatchObject(SUCCESS);
      expect(ran).toEqual(["e3", "e4"]);
      expect(await receiver.count("oncehook_records")).toBe(2);
      const listed = (await receiver.admin("/api/v1/callbacks?outcome=ignored")).body as { items: object[] };
      expect(listed.items).toMatchObject([{ event_id: "e2" }, { event_id: "e1" }]);
    }));

  it("a type that `ignore` names is ignored, also where `only` names it", () =>
    filtered(dialect, { only: ["invoice.*"], ignore: ["invoice.draft"] }, async (receiver, ran) => {
      expect(await deliverToShop(receiver, { id: "e1", type: "invoice.draft" })).toEqual(IGNORED);
      expect(await deliverToShop(receiver, { id: "e2", type: "invoice.paid" })).toMatchObject(SUCCESS);
      expect(ran).toEqual(["e2"]);
    }));

  it("`filter` decides by the event's content, and what it changes reaches no handler", () => {
    const filter: NonNullable<Settings>["filter"] = (event) => {
      const isWanted = event.data.live === true && event.event_type === "order" && event.timestamp === 5;
      event.data.live = "changed";
      return isWanted;
    };
    return filtered(dialect, { filter }, async (receiver, ran) => {
      expect(await deliverToShop(receiver, { id: "e1", live: false, time: 5 })).toEqual(IGNORED);
      const response = await deliverToShop(receiver, { id: "e2", live: true, time: 5 });
      expect(response.body).toEqual({ status: "success", data: { live: true } });
      expect(ran).toEqual(["e2"]);
    });
  });

  it("an exception of `filter` is a 500 with the error in the log, and the event can come again", () => {
    let error: Error | undefined = new Error("the list of accounts is missing");
    const filter = () => {
      if (error !== undefined) throw error;
      return true;
    };
    return filtered(dialect, { filter }, async (receiver, ran) => {
      expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(500);
      await until(() => receiver.lines.some((line) => JSON.stringify(line).includes("list of accounts")));
      expect(await receiver.count("oncehook_failures")).toBe(0);
      error = undefined;
      expect(await deliverToShop(receiver, { id: "e1" })).toMatchObject(SUCCESS);
      expect(ran).toEqual(["e1"]);
    });
  });

  it("a `filter` that returns no boolean, such as a promise, is a 500", () =>
    filtered(dialect, { filter: (async () => false) as never }, async (receiver, ran) => {
      expect((await deliverToShop(receiver, { id: "e1" })).status).toBe(500);
      expect(ran).toEqual([]);
    }));

  it("answer mode `after` accepts no event that a filter leaves out, and none whose filter throws", () => {
    const filter: NonNullable<Settings>["filter"] = ({ data }) => {
      if (data.live === "unknown") throw new Error("cannot say");
      return data.live === true;
    };
    return filtered(dialect, { filter, answer: "after" }, async (receiver, ran) => {
      expect(await deliverToShop(receiver, { id: "e1", live: false })).toEqual(IGNORED);
      expect((await deliverToShop(receiver, { id: "e2", live: "unknown" })).status).toBe(500);
      expect(await deliverToShop(receiver, { id: "e3", live: true })).toMatchObject({ status: 200 });
      await until(() => ran.length === 1);
      expect(ran).toEqual(["e3"]);
    });
  });
});

describe("the settings of a source's filters", () => {
  it.each([
    [{ only: "invoice.*" }, 'hmac: `only`: expected a list of event types, such as ["invoice.*"]'],
    [{ only: [] }, "hmac: `only`: got an empty list"],
    [{ ignore: ["ok", "in*voice"] }, 'hmac: `ignore`: got "in*voice" at 1, expected a type as the platform'],
    [{ filter: "live" }, "hmac: `filter`: expected a function of an event"],
  ])("a source refuses the filters %j", (settings, message) => {
    expect(() => shop(settings as never)).toThrow(message);
  });
});
