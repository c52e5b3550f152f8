import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type HandlerDefinition } from "../../src/handlers/index.ts";
import type { SourceSettings } from "../../src/sources/source-definition.ts";
import { describeFullOnPostgres, fullOnPostgres } from "../support/databases.ts";
import { type ReceiverOptions, withReceiver } from "../support/receiver.ts";
import { deliverToTenant, tenantShop } from "../support/tenant-shop.ts";
import { until } from "../support/until.ts";

const Order = z.looseObject({ id: z.string(), hangs: z.boolean().optional() });
type Definition = Pick<HandlerDefinition<typeof Order, null>, "orderBy" | "concurrency">;

interface Work {
  /** Its transaction has no `prepare` before it. */
  readonly place?: "prepare" | "handle";
  /** What each run does first. */
  readonly begin?: () => unknown;
}

/** A handler for which the runs of some events hang, in `prepare` or in their transaction, until they are let go. */
function hanging(definition: Definition = {}, { place = "prepare", begin }: Work = {}) {
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  const run = async ({ event: { data } }: { event: { data: z.infer<typeof Order> } }) => {
    await begin?.();
    started.push(data.id);
    if (data.hangs) await gate.promise;
    return { id: data.id };
  };
  const common = { source: "shops", type: "order", data: Order, ...definition } as const;
  const handler =
    place === "handle"
      ? defineHandler({ ...common, handle: run })
      : defineHandler({ ...common, prepare: run, handle: ({ prepared }) => prepared });
  return { handler, started, open: gate.resolve };
}

interface Event {
  readonly id: string;
  readonly hangs?: boolean;
  readonly key?: string;
}

const many = (count: number, event: Omit<Event, "id"> = {}) =>
  Array.from({ length: count }, (_, index) => ({ id: `e${index}`, ...event }));
const options = (handler: ReceiverOptions["handlers"], settings: SourceSettings, env = {}) => ({
  sources: { shops: tenantShop(settings) },
  ...(handler && { handlers: handler }),
  retryPollMs: 20,
  env: { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off", ...env },
});

describeFullOnPostgres("two tenants on %s", (dialect) => {
  it("an accepted event runs while more events of another tenant hang than run at a time", () => {
    const { handler, started, open } = hanging();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverToTenant(receiver, "a", many(80, { hangs: true }))).toBe(200);
        await until(() => started.length >= 32);
        expect(await deliverToTenant(receiver, "b", [{ id: "b1" }])).toBe(200);
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

  it("the accepted events of one `orderBy` take one place", { tags: fullOnPostgres(dialect) }, () => {
    const { handler, started, open } = hanging({ orderBy: "data.key" });
    return withReceiver(
      dialect,
      async (receiver) => {
        const ordered = many(40, { key: "k1", hangs: true });
        for (let at = 0; at < ordered.length; at += 20)
          expect(await deliverToTenant(receiver, "a", ordered.slice(at, at + 20))).toBe(200);
        await deliverToTenant(receiver, "a", [{ id: "other key", key: "k2" }, { id: "no key" }]);
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

  it("a retry runs while more retries of another tenant hang than run at a time", {
    tags: fullOnPostgres(dialect),
  }, () => {
    let isDown = true;
    const { handler, started, open } = hanging(
      {},
      {
        begin: () => {
          if (isDown) throw new Error("down");
        },
      },
    );
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverToTenant(receiver, "a", many(20, { hangs: true }))).toBe(500);
        expect(await deliverToTenant(receiver, "b", [{ id: "b1" }])).toBe(500);
        isDown = false;
        await until(async () => (await receiver.count("oncehook_records", "source = 'shops/b'")) === 1);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 21);
        expect(started).toHaveLength(21);
      },
      options([handler], { answer: "inline", retry: { first: "1s" } }),
    );
  });

  it("a callback is handled while those of another tenant take all of MAX_WAITING_CALLBACKS", () => {
    const { handler, started, open } = hanging();
    return withReceiver(
      dialect,
      async (receiver) => {
        const hung = many(8, { hangs: true }).map((event) => deliverToTenant(receiver, "a", [event]));
        await until(() => started.length === 8);
        expect(await deliverToTenant(receiver, "a", [{ id: "a9" }])).toBe(503);
        for (const id of ["b1", "b2", "b3"]) expect(await deliverToTenant(receiver, "b", [{ id }])).toBe(200);
        open();
        expect(await Promise.all(hung)).toEqual(Array(8).fill(200));
      },
      options([handler], { answer: "inline" }, { MAX_WAITING_CALLBACKS: "8" }),
    );
  });

  it("a callback with `within` whose key is at work is accepted at once, and its key keeps its order", () => {
    const { handler, started, open } = hanging({ orderBy: "data.key" });
    return withReceiver(
      dialect,
      async (receiver) => {
        const first = deliverToTenant(receiver, "a", [{ id: "e0", key: "k", hangs: true }]);
        await until(() => started.length === 1);
        const begun = performance.now();
        for (const id of ["e1", "e2", "e3"]) expect(await deliverToTenant(receiver, "a", [{ id, key: "k" }])).toBe(200);
        expect(performance.now() - begun).toBeLessThan(15_000);
        expect(await receiver.count("oncehook_failures", "state = 'accepted'")).toBe(3);
        open();
        expect(await first).toBe(200);
        // Behind those that were accepted, whether they have begun by now or not.
        expect(await deliverToTenant(receiver, "a", [{ id: "e4", key: "k" }])).toBe(200);
        await until(async () => (await receiver.count("oncehook_records")) === 5);
        expect(started).toEqual(["e0", "e1", "e2", "e3", "e4"]);
      },
      options([handler], { answer: { within: "20s" } }),
    );
  });

  it("the items of one callback with one `orderBy` take one place, one after the other", () => {
    const { handler, started } = hanging({ orderBy: "data.key" });
    return withReceiver(
      dialect,
      async (receiver) => {
        const items = Array.from({ length: 30 }, (_, index) => ({ id: `e${index}`, key: `k${index % 2}` }));
        expect(await deliverToTenant(receiver, "a", items)).toBe(200);
        const ofKey = (key: string) => items.filter((item) => item.key === key).map(({ id }) => id);
        for (const key of ["k0", "k1"]) expect(started.filter((id) => ofKey(key).includes(id))).toEqual(ofKey(key));
      },
      options([handler], { answer: "inline" }, { MAX_WAITING_CALLBACKS: "2" }),
    );
  });

  it("the runs of a handler with `concurrency` go to the tenants in turn", () => {
    const { handler, started, open } = hanging({ concurrency: 1 });
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await deliverToTenant(receiver, "a", many(20, { hangs: true }))).toBe(200);
        await until(() => started.length === 1);
        expect(await deliverToTenant(receiver, "b", [{ id: "b1" }])).toBe(200);
        open();
        await until(() => started.includes("b1"));
        expect(started.indexOf("b1")).toBeLessThan(5);
      },
      options([handler], { answer: "after" }),
    );
  });
});

it("a handler that hangs in its transaction on PostgreSQL leaves other tenants a connection", () => {
  const { handler, started, open } = hanging({}, { place: "handle" });
  return withReceiver(
    "postgres",
    async (receiver) => {
      const hung = many(30, { hangs: true }).map((event) => deliverToTenant(receiver, "a", [event]));
      await until(() => started.length >= 6);
      for (const id of ["b1", "b2", "b3"]) expect(await deliverToTenant(receiver, "b", [{ id }])).toBe(200);
      expect(await receiver.count("oncehook_records", "source = 'shops/a' AND status = 'completed'")).toBe(0);
      open();
      expect(await Promise.all(hung)).toEqual(Array(30).fill(200));
    },
    options([handler], { answer: "inline" }),
  );
});

it("the events of several tenants take turns in the writer of SQLite", { tags: "full" }, () => {
  const begin = () => new Promise((resolve) => setTimeout(resolve, 5));
  const { handler, started } = hanging({}, { place: "handle", begin });
  return withReceiver(
    "sqlite",
    async (receiver) => {
      const flood = many(200).map((event) => deliverToTenant(receiver, "a", [event]));
      await until(() => started.length >= 20);
      expect(await deliverToTenant(receiver, "b", [{ id: "b1" }])).toBe(200);
      expect(started.length).toBeLessThan(150);
      expect(await Promise.all(flood)).toEqual(Array(200).fill(200));
    },
    options([handler], { answer: "inline" }),
  );
});
