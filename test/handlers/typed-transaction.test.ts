import type { DatabaseSync } from "node:sqlite";
import type pg from "pg";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { defineHandler, type Transaction } from "../../src/index.ts";
import { event, withReceiver } from "../support/receiver.ts";

type Tables = { parcels: { id: string; weight_grams: number } };

// `npm run types` holds this file to its expected errors; the run shows that the typed calls work.
describe("the transaction of a handler with tables", () => {
  const table = {
    name: "parcels",
    up: async ({ query }: Transaction) => {
      await query.schema.createTable("parcels").addColumn("id", "text").addColumn("weight_grams", "integer").execute();
    },
  };

  it("the handler's tables type its transaction, as its schema types the data", () => {
    const handler = defineHandler<Tables>()({
      type: "parcel_shipped",
      data: z.object({ parcel_id: z.string(), weight: z.coerce.number() }),
      migrations: [table],
      prepare: async () => ({ warehouse: "north" }),
      async handle({ event, tx, prepared }) {
        const { parcel_id: id, weight: weight_grams } = event.data;
        expectTypeOf(weight_grams).toEqualTypeOf<number>();
        expectTypeOf(prepared).toEqualTypeOf<{ warehouse: string }>();
        await tx.query.insertInto("parcels").values({ id, weight_grams }).execute();
        const row = await tx.query.selectFrom("parcels").selectAll().executeTakeFirstOrThrow();
        expectTypeOf(row).toEqualTypeOf<{ id: string; weight_grams: number }>();
        return { ...row, ...prepared };
      },
    });
    return withReceiver(
      "sqlite",
      async (receiver) => {
        const { body } = await receiver.send(event("parcel_shipped", { parcel_id: "p1", weight: "5" }));
        expect(body).toMatchObject({ data: { id: "p1", weight_grams: 5, warehouse: "north" } });
      },
      { handlers: [handler] },
    );
  });

  it("a typed transaction takes no other table, column or value", () => {
    const never = (tx: Transaction<Tables>) => {
      // @ts-expect-error: there is no such table
      tx.query.insertInto("parcel");
      // @ts-expect-error: there is no such column
      tx.query.insertInto("parcels").values({ id: "p1", weight: 1 });
      // @ts-expect-error: weight_grams is a number
      tx.query.insertInto("parcels").values({ id: "p1", weight_grams: "1" });
      // @ts-expect-error: there is no such column to look for
      tx.query.selectFrom("parcels").where("wieght_grams", ">", 1);
    };
    expect(never).toBeTypeOf("function");
  });

  it("withTables types the transaction of a handler without tables of its own", () => {
    const never = (tx: Transaction) => {
      const query = tx.query.withTables<Tables>();
      query.insertInto("parcels").values({ id: "p1", weight_grams: 1 });
      // @ts-expect-error: there is no such table
      query.insertInto("parcel");
      // @ts-expect-error: weight_grams is a number
      query.insertInto("parcels").values({ id: "p1", weight_grams: "1" });
      // Without tables anything goes.
      tx.query.insertInto("anything").values({ at: "all" });
    };
    expect(never).toBeTypeOf("function");
  });

  it("a transaction hands out the connection of the driver whose dialect it has", () => {
    const never = (tx: Transaction) => {
      // @ts-expect-error: which driver it is has to be asked first
      tx.connection.prepare("SELECT 1");
      if (tx.dialect === "sqlite") {
        expectTypeOf(tx.connection).toEqualTypeOf<DatabaseSync>();
        // @ts-expect-error: there is no such method
        tx.connection.query("SELECT 1");
      } else {
        const rows: Promise<{ rows: { n: number }[] }> = tx.connection.query<{ n: number }>("SELECT $1::int AS n", [1]);
        void rows;
        // @ts-expect-error: there is no such method
        tx.connection.prepare("SELECT 1");
        return tx.connection as pg.ClientBase;
      }
    };
    expect(never).toBeTypeOf("function");
  });

  it("the types need the definition in a second call, and say so where it is left out", () => {
    const unfinished = defineHandler<Tables>();
    // @ts-expect-error: a handler is what the second call returns
    expect(() => unfinished()).toThrow("defineHandler: expected an object");
    // @ts-expect-error: a definition is needed
    expect(() => defineHandler(undefined)).toThrow("defineHandler: expected an object");
  });
});
