import { z } from "zod";
import { type Dialect, sqlMigration } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import { decimalValue, idValue, plainText } from "./text-fields.ts";

const NUMBERED = `INSERT INTO orders (order_id, status, amount, event_id, updated_at)
    VALUES ($1, 'paid', $2, $3, $4)
    ON CONFLICT (order_id) DO UPDATE SET status = excluded.status, amount = excluded.amount,
      event_id = excluded.event_id, updated_at = excluded.updated_at`;
/** Prepared once: building it for each event costs as much as running it. The databases number values differently. */
const UPSERT: Record<Dialect, string> = { sqlite: NUMBERED.replaceAll(/\$\d/g, "?"), postgres: NUMBERED };

const ORDERS = `CREATE TABLE orders (
  order_id text PRIMARY KEY, status text NOT NULL, amount {decimal} NOT NULL, event_id text NOT NULL,
  updated_at {time} NOT NULL
)`;

/** SPEC 6.3: sets the order paid and queues a notification, in one transaction with the record. */
export const paymentNotify = defineHandler({
  type: "payment_notify",
  // SPEC 2.2 gives neither a type. Some platforms send ids as numbers or amounts as strings, and a refund is negative.
  data: z.object({ order_id: idValue, amount: decimalValue }),
  migrations: [sqlMigration("built-in-orders", ORDERS)],
  async handle({ event, tx, notify, now }) {
    const { order_id, amount } = event.data;
    const values = [plainText(order_id), plainText(amount), event.event_id, now.toISOString()];
    await tx.execute(UPSERT[tx.dialect], values);
    await notify("order.paid", { order_id, amount, event_id: event.event_id });
    return { order_id };
  },
});
