import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type HandlerDefinition } from "../../src/handlers/index.ts";
import { DIALECTS, type Dialect, fullOnPostgres, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const Order = z.object({
  object: z.string().optional(),
  version: z.number().optional(),
  by: z.string().optional(),
});
type Ordering = Pick<HandlerDefinition<typeof Order, undefined>, "orderBy" | "dropStale">;

/** Overwrites what is known of an object, as a handler does that keeps a copy; each run begins and ends in `steps`. */
function copying(ordering: Ordering, { name }: { name?: string } = {}) {
  const steps: string[] = [];
  const handler = defineHandler({
    source: "shop",
    ...(name !== undefined && { name }),
    type: "order",
    ...ordering,
    data: Order,
    migrations: [
      {
        name: "copies",
        async up({ query, dialect }) {
          const id = dialect === "postgres" ? "bigserial PRIMARY KEY" : "integer PRIMARY KEY";
          const columns = `id ${id}, object text NOT NULL, event text NOT NULL`;
          await sql.raw(`CREATE TABLE copies (${columns})`).execute(query);
        },
      },
    ],
    async handle({ event: { event_id: event, data }, tx }) {
      steps.push(`${event} begins`);
      await sleep(2);
      const { object = "none" } = data;
      await tx.query.insertInto("copies").values({ object, event }).execute();
      steps.push(`${event} ends`);
      return { event };
    },
  });
  return { handler, steps };
}

/** The event whose effect is the last one for an object. */
async function copyOf({ target }: Pick<TestReceiver, "target">, object: string) {
  const rows = await rowsOf(target, `SELECT event FROM copies WHERE object = '${object}' ORDER BY id DESC LIMIT 1`);
  return rows[0]?.event;
}

const STALE = { status: 200, body: { status: "success", data: { stale: true } } };

function withOrder(
  dialect: Dialect,
  ordering: Ordering,
  use: (receiver: TestReceiver, steps: string[]) => Promise<void>,
) {
  const { handler, steps } = copying(ordering);
  return withReceiver(dialect, (receiver) => use(receiver, steps), {
    sources: { shop: shop() },
    handlers: [handler],
  });
}

describe.each(DIALECTS)("the order of events on %s", (dialect) => {
  it("events of one key run one after the other, and those of others beside them", () =>
    withOrder(dialect, { orderBy: "data.object" }, async (receiver, steps) => {
      const events = Array.from({ length: 8 }, (_, index) => ({ id: `e${index}`, object: "o1" }));
      const responses = await Promise.all(events.map((event) => deliverToShop(receiver, event)));
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      for (let index = 0; index < steps.length; index += 2)
        expect(steps[index + 1]).toBe(String(steps[index]).replace("begins", "ends"));
    }));

  it("an event older than the newest that has run for its key is not run, and its record says so", () =>
    withOrder(dialect, { orderBy: "data.object", dropStale: true }, async (receiver) => {
      await deliverToShop(receiver, { id: "new", object: "o1", time: 2_000 });
      expect(await deliverToShop(receiver, { id: "old", object: "o1", time: 1_999 })).toEqual(STALE);
      expect(await deliverToShop(receiver, { id: "old", object: "o1", time: 1_999 })).toEqual({
        status: 200,
        body: { status: "already_processed" },
      });
      expect(await copyOf(receiver, "o1")).toBe("new");
      const [record] = await rowsOf(receiver.target, "SELECT result FROM oncehook_records WHERE event_id = 'old'");
      expect(JSON.parse(String(record?.result))).toEqual({ stale: true });
      const metrics = await (await fetch(`${receiver.adminOrigin}/metrics`)).text();
      expect(metrics).toContain('oncehook_stale_events_total{source="shop"} 1');
    }));

  it("an equally new event runs, and so does an older one of another key or of none", () =>
    withOrder(dialect, { orderBy: "data.object", dropStale: true }, async (receiver) => {
      await deliverToShop(receiver, { id: "e1", object: "o1", time: 2_000 });
      for (const event of [
        { id: "e2", object: "o1", time: 2_000 },
        { id: "e3", object: "o2", time: 1_000 },
        { id: "e4", time: 1_000 },
      ])
        expect(await deliverToShop(receiver, event)).toMatchObject({ body: { data: { event: event.id } } });
      expect(await receiver.count("oncehook_order_keys")).toBe(2);
    }));

  it("a sequence decides whatever the time says, by its value and not by its digits", () =>
    withOrder(dialect, { orderBy: "data.object", dropStale: { sequence: "data.version" } }, async (receiver) => {
      await deliverToShop(receiver, { id: "e9", object: "o1", version: 9, time: 9_000 });
      await deliverToShop(receiver, { id: "e10", object: "o1", version: 10, time: 1_000 });
      expect(await copyOf(receiver, "o1")).toBe("e10");
      expect(await deliverToShop(receiver, { id: "e2", object: "o1", version: 2, time: 9_999 })).toEqual(STALE);
      const without = await deliverToShop(receiver, { id: "e0", object: "o1" });
      expect(without).toMatchObject({ body: { data: { event: "e0" } } });
    }));

  it("an event that failed makes no later one stale", () => {
    let isDown = true;
    const failing = defineHandler({
      source: "shop",
      type: "order",
      orderBy: "data.object",
      dropStale: true,
      data: Order,
      handle() {
        if (isDown) throw new Error("the copy is locked");
        return { ran: true };
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliverToShop(receiver, { id: "new", object: "o1", time: 2_000 })).status).toBe(500);
        isDown = false;
        const old = await deliverToShop(receiver, { id: "old", object: "o1", time: 1_000 });
        expect(old).toMatchObject({ body: { data: { ran: true } } });
      },
      { sources: { shop: shop() }, handlers: [failing] },
    );
  });

  it("keys of any length and with any characters are kept apart", () => {
    const handler = defineHandler({
      source: "shop",
      type: "order",
      orderBy: "data.object",
      dropStale: true,
      data: Order,
      handle: () => ({ ran: true }),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const long = "x".repeat(5_000);
        const objects = [long, `${long}y`, "\u0000", "\ud800", "\ud801", "\ufffd", "ö", " ", "  "];
        for (const [index, object] of objects.entries()) {
          const response = await deliverToShop(receiver, { id: `e${index}`, object, time: 1_000 - index });
          expect(response.body).toMatchObject({ data: { ran: true } });
        }
        expect(await receiver.count("oncehook_order_keys")).toBe(objects.length);
        expect(await receiver.count("oncehook_order_keys", "length(order_key) > 300")).toBe(0);
      },
      { sources: { shop: shop() }, handlers: [handler] },
    );
  });

  it("each of several handlers has an order of its own", () => {
    const [plain, audit] = [
      copying({ orderBy: "data.object", dropStale: true }),
      copying({ orderBy: "data.object", dropStale: true }, { name: "audit" }),
    ];
    const handlers = [plain.handler, { ...audit.handler, migrations: plain.handler.migrations }];
    return withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "e1", object: "o1", time: 1_000 });
        expect(await receiver.count("oncehook_order_keys")).toBe(2);
        expect(await receiver.count("copies")).toBe(2);
      },
      { sources: { shop: shop() }, handlers },
    );
  });
});

/** Which receiver gets which version, in which order; some come more than once. */
const interleavings = (receivers: number) =>
  fc.array(fc.record({ version: fc.integer({ min: 1, max: 9 }), to: fc.nat(receivers - 1) }), {
    minLength: 2,
    maxLength: 14,
  });

describe.each(DIALECTS)("any interleaving of the deliveries of one key on %s", (dialect) => {
  it.each([
    ["the platform's time", { orderBy: "data.object", dropStale: true }],
    ["a sequence", { orderBy: "data.object", dropStale: { sequence: "data.version" } }],
  ])(
    "any interleaving ends with the newest event's effect, by %s",
    { tags: fullOnPostgres(dialect), timeout: 60_000 },
    (_title, ordering) =>
      withMigrated(dialect, async (target) => {
        const count = dialect === "postgres" ? 3 : 1;
        const options = { sources: { shop: shop() }, handlers: [copying(ordering).handler] };
        const receivers: TestReceiver[] = [];
        for (let index = 0; index < count; index += 1) receivers.push(await startReceiver(target, options));
        let run = 0;
        const endsWithNewest = async (deliveries: readonly { version: number; to: number }[]) => {
          run += 1;
          const object = `o${run}`;
          await Promise.all(
            deliveries.map(async ({ version, to }) => {
              const event = { id: `${object} v${version}`, object, version, time: version * 10 };
              for (let status = 0; status !== 200; )
                status = (await deliverToShop(receivers[to] as TestReceiver, event)).status;
            }),
          );
          const newest = Math.max(...deliveries.map(({ version }) => version));
          expect(await copyOf({ target }, object)).toBe(`${object} v${newest}`);
          const [{ events } = { events: 0 }] = await rowsOf(
            target,
            `SELECT count(DISTINCT event) = count(*) AS events FROM copies WHERE object = '${object}'`,
          );
          expect(Boolean(events)).toBe(true);
        };
        try {
          await fc.assert(fc.asyncProperty(interleavings(count), endsWithNewest), { numRuns: 25 });
        } finally {
          for (const receiver of receivers) await receiver.stop();
        }
      }),
  );
});

it("an event waits for one of its key that another process runs on PostgreSQL, and is stale then", () =>
  withMigrated("postgres", async (target) => {
    const gate = Promise.withResolvers<void>();
    const runs: string[] = [];
    const handler = defineHandler({
      source: "shop",
      type: "order",
      orderBy: "data.object",
      dropStale: true,
      data: Order,
      async handle({ event }) {
        runs.push(event.event_id);
        await gate.promise;
        return { ran: event.event_id };
      },
    });
    const options = { sources: { shop: shop() }, handlers: [handler] };
    const [one, other] = [await startReceiver(target, options), await startReceiver(target, options)];
    try {
      const newer = deliverToShop(one, { id: "new", object: "o1", time: 2_000 });
      await until(() => runs.length === 1);
      const older = deliverToShop(other, { id: "old", object: "o1", time: 1_000 });
      expect(await Promise.race([older, sleep(300, "waits")])).toBe("waits");
      gate.resolve();
      expect(await newer).toMatchObject({ body: { data: { ran: "new" } } });
      expect(await older).toEqual(STALE);
      expect(runs).toEqual(["new"]);
    } finally {
      await one.stop();
      await other.stop();
    }
  }));
