import { z } from "zod";
import { type Migration, sql } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import { idText } from "./text-fields.ts";

type Tables = {
  orders: { order_id: string; status: string; amount: string; event_id: string; updated_at: string };
};

const orders: Migration = {
  name: "built-in-orders",
  async up({ query, dialect }) {
    // PostgreSQL keeps the amount's decimal digits; SQLite has no decimal type.
    const [amount, time] = dialect === "postgres" ? ["numeric", "timestamptz"] : ["real", "text"];
    await sql
      .raw(`CREATE TABLE orders (
        order_id text PRIMARY KEY,
        status text NOT NULL,
        amount ${amount} NOT NULL,
        event_id text NOT NULL,
        updated_at ${time} NOT NULL
      )`)
      .execute(query);
  },
};

/** SPEC 6.3: sets the order paid and queues a notification, in one transaction with the record. */
export const paymentNotify = defineHandler({
  type: "payment_notify",
  data: z.object({ order_id: idText, amount: z.number().finite().nonnegative() }),
  migrations: [orders],
  async handle({ event, tx, notify, now }) {
    const { order_id, amount } = event.data;
    const paid = {
      status: "paid",
      amount: String(amount),
      event_id: event.event_id,
      updated_at: now.toISOString(),
    };
    await tx.query
      .withTables<Tables>()
      .insertInto("orders")
      .values({ order_id, ...paid })
      .onConflict((conflict) => conflict.column("order_id").doUpdateSet(paid))
      .execute();
    await notify("order.paid", { order_id, amount, event_id: event.event_id });
    return { order_id };
  },
});
