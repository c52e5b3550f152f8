import { z } from "zod";
import { type Dialect, type Migration, sql } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import { idText } from "./text-fields.ts";

/** Written out and not built for each event, which costs as much as running it; the databases number values otherwise. */
const UPSERT: Record<Dialect, string> = {
  sqlite: upsert("?", "?", "?", "?"),
  postgres: upsert("$1", "$2", "$3", "$4"),
};

function upsert(orderId: string, amount: string, eventId: string, at: string): string {
  return `INSERT INTO orders (order_id, status, amount, event_id, updated_at)
    VALUES (${orderId}, 'paid', ${amount}, ${eventId}, ${at})
    ON CONFLICT (order_id) DO UPDATE SET status = excluded.status, amount = excluded.amount,
      event_id = excluded.event_id, updated_at = excluded.updated_at`;
}

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
    const values = [order_id, String(amount), event.event_id, now.toISOString()];
    await tx.execute(UPSERT[tx.dialect], values);
    await notify("order.paid", { order_id, amount, event_id: event.event_id });
    return { order_id };
  },
});
