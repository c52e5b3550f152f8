import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type HandlerDefinition } from "../../src/handlers/index.ts";
import type { SourceSettings } from "../../src/sources/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const Order = z.looseObject({ id: z.string(), hangs: z.boolean().optional() });
type Definition = Pick<HandlerDefinition<typeof Order, null>, "orderBy" | "concurrency">;

/** A handler for which the runs of some events hang until they are let go. */
function hanging(definition: Definition = {}, fails: () => boolean = () => false) {
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  const handler = defineHandler({
    source: "shops",
    type: "order",
    data: Order,
    ...definition,
    async prepare({ event }) {
      if (fails()) throw new Error("down");
      started.push(event.data.id);
      if (event.data.hangs) await gate.promise;
      return null;
    },
    handle: ({ event }) => ({ id: event.data.id }),
  });
  return { handler, started, open: gate.resolve };
}

const secretOf = (tenant: string) => `the secret of the shop ${tenant}.`;
const shops = (settings: SourceSettings) =>
  shop({
    path: "/hooks/:shop",
    secret: ({ params }) => secretOf(String(params.shop)),
    batch: { at: "body.events" },
    id: "item.id",
    type: "item.type",
    ...settings,
  });

interface Event {
  readonly id: string;
  readonly hangs?: boolean;
  readonly key?: string;
}

/** One callback with these events of a tenant. */
async function deliver({ publicOrigin }: TestReceiver, tenant: string, events: readonly Event[]) {
  const body = Buffer.from(JSON.stringify({ events: events.map((event) => ({ type: "order", ...event })) }));
  const headers = shop({ secret: secretOf(tenant) }).sign?.({ body, now: new Date() }) ?? {};
  const response = await fetch(`${publicOrigin}/hooks/${tenant}`, { method: "POST", body, headers });
  return response.status;
}

const many = (count: number, event: Omit<Event, "id"> = {}) =>
  Array.from({ length: count }, (_, index) => ({ id: `e${index}`, ...event }));
const options = (handler: ReceiverOptions["handlers"], settings: SourceSettings) => ({
  sources: { shops: shops(settings) },
  ...(handler && { handlers: handler }),
  retryPollMs: 20,
  env: { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off" },
});

describe.each(DIALECTS)("two tenants on %s", (dialect) => {
  it("an accepted event runs while more events of another tenant hang than run at a time", () => {
    const { handler, started, open } = hanging();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliver(receiver, "a", many(80, { hangs: true }))).toBe(200);
        await until(() => started.length >= 32);
        expect(await deliver(receiver, "b", [{ id: "b1" }])).toBe(200);
        await until(() => started.includes("b1"));
        await until(async () => (await receiver.count("oncehook_records", "source = 'shops/b'")) === 1);
        expect(await receiver.count("oncehook_records", "source = 'shops/a'")).toBe(0);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 81);
        expect(new Set(started).size).toBe(started.length);
      },
      options([handler], { answer: "after" }),
    );
  });

  it("the accepted events of one `orderBy` take one place", () => {
    const { handler, started, open } = hanging({ orderBy: "data.key" });
    return withReceiver(
      dialect,
      async (receiver) => {
        const ordered = many(40, { key: "k1", hangs: true });
        for (let at = 0; at < ordered.length; at += 20)
          expect(await deliver(receiver, "a", ordered.slice(at, at + 20))).toBe(200);
        await deliver(receiver, "a", [{ id: "other key", key: "k2" }, { id: "no key" }]);
        await until(() => started.length === 3);
        expect(started.toSorted()).toEqual([started[0], "no key", "other key"].toSorted());
        await until(async () => (await receiver.count("oncehook_records")) === 2);
        expect(started).toHaveLength(3);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 42);
        expect(started.filter((id) => id.startsWith("e"))).toHaveLength(40);
      },
      options([handler], { answer: "after" }),
    );
  });

  it("a retry runs while more retries of another tenant hang than run at a time", () => {
    let isDown = true;
    const { handler, started, open } = hanging({}, () => isDown);
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliver(receiver, "a", many(20, { hangs: true }))).toBe(500);
        expect(await deliver(receiver, "b", [{ id: "b1" }])).toBe(500);
        isDown = false;
        await until(async () => (await receiver.count("oncehook_records", "source = 'shops/b'")) === 1);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 21);
        expect(started).toHaveLength(21);
      },
      options([handler], { answer: "inline", retry: { first: "1s" } }),
    );
  });
});
