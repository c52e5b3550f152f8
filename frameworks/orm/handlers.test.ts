import { join } from "node:path";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { namedBlocks, withFiles } from "../../test/support/doc-blocks.ts";
import { rowsOf } from "../../test/support/effects.ts";
import { event, withReceiver } from "../../test/support/receiver.ts";
import { defineHandler, type Handler, sqlMigration } from "./oncehook.ts";

const migrations = [sqlMigration("orders", "CREATE TABLE paid_orders (id text PRIMARY KEY)")];
const orderPaid = (order: string) => event("order_paid", { order });
const blocks = [...namedBlocks("docs/handlers.md")].filter(([name]) => ["drizzle", "kysely", "sql"].includes(name));

describe("query builders in a handler on PostgreSQL", () => {
  it.each(blocks)(
    "what the documented handler with %s writes commits with the record, or not at all",
    (name, block) => {
      const source = block.replace('"oncehook"', '"../oncehook.ts"');
      return withFiles(
        [[`${name}.ts`, source]],
        async (folder) => {
          const { orderPaid: handler } = (await import(join(folder, `${name}.ts`))) as { orderPaid: Handler };
          await withReceiver(
            "postgres",
            async (receiver) => {
              const { status, body } = await receiver.send(orderPaid("o1"));
              expect({ status, body }).toEqual({ status: 200, body: { status: "success", data: { orders: 1 } } });
              // The primary key refuses it.
              expect((await receiver.send(orderPaid("o1"))).status).toBe(500);
              expect((await receiver.send(orderPaid("o2"))).status).toBe(200);
              expect(await receiver.count("paid_orders")).toBe(2);
              expect(await receiver.count("oncehook_records")).toBe(2);
            },
            { handlers: [handler], migrations },
          );
        },
        "frameworks/orm",
      );
    },
  );

  it("a write by Drizzle rolls back with a handler that fails after it", () =>
    withDrizzle(async (db) => {
      await db.insert(orders).values({ id: "o1" });
      throw new Error("the stock service is down");
    }, "the stock service is down"));

  it("a transaction() of Drizzle in a handler fails the event, writes nothing, and says what to do", () =>
    withDrizzle(async (db) => {
      await db.transaction(async (inner) => void (await inner.insert(orders).values({ id: "o1" })));
    }, /may not run.*BEGIN.*`transaction\(\)` is not needed/));
});

const orders = pgTable("paid_orders", { id: text("id").primaryKey() });

/** Runs a handler that must fail, with no write left. */
function withDrizzle(work: (db: ReturnType<typeof drizzle>) => Promise<void>, why: string | RegExp) {
  const handler = defineHandler({
    type: "order_paid",
    data: z.object({ order: z.string() }),
    async handle({ tx }) {
      if (tx.dialect !== "postgres") throw new Error("PostgreSQL only");
      await work(drizzle(tx.connection) as never);
      return {};
    },
  });
  return withReceiver(
    "postgres",
    async (receiver) => {
      expect((await receiver.send(orderPaid("o1"))).status).toBe(500);
      expect(await receiver.count("paid_orders")).toBe(0);
      expect(await receiver.count("oncehook_records")).toBe(0);
      expect(JSON.stringify(receiver.lines)).toMatch(why);
      const [failure] = await rowsOf(receiver.target, "SELECT state FROM oncehook_failures");
      expect(failure?.state).toBe("waiting");
    },
    { handlers: [handler], migrations },
  );
}
