import { defineConfig, defineHandler, type Migration, Rejected } from "oncehook";
import { z } from "zod";

type Tables = {
  shop_orders: { id: string; total_cents: number; paid_cents: number; status: "open" | "paid" };
  shop_payments: { id: string; order_id: string; cents: number };
};

const tables: Migration = {
  name: "shop-tables",
  async up({ query }) {
    await query.schema
      .createTable("shop_orders")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("total_cents", "integer", (column) => column.notNull())
      .addColumn("paid_cents", "integer", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .execute();
    await query.schema
      .createTable("shop_payments")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("order_id", "text", (column) => column.notNull().references("shop_orders.id"))
      .addColumn("cents", "integer", (column) => column.notNull())
      .execute();
  },
};

const cents = z.number().int().positive().max(100_000_000);

/** The shop's own system tells of an order before anybody pays for it. */
const orderPlaced = defineHandler<Tables>()({
  type: "order_placed",
  data: z.object({ order_id: z.string().min(1).max(64), total_cents: cents }),
  migrations: [tables],
  async handle({ event, tx }) {
    const { order_id: id, total_cents } = event.data;
    await tx.query.insertInto("shop_orders").values({ id, total_cents, paid_cents: 0, status: "open" }).execute();
    return { order_id: id };
  },
});

/** Takes the place of the built-in `payment_notify`: payments may come in parts, and none counts twice. */
const paymentNotify = defineHandler<Tables>()({
  type: "payment_notify",
  data: z.object({ order_id: z.string(), payment_id: z.string().min(1).max(64), amount: cents }),
  async handle({ event, tx, notify }) {
    const { order_id, payment_id, amount } = event.data;
    const { query } = tx;
    const order = await query
      .updateTable("shop_orders")
      .set((eb) => ({ paid_cents: eb("paid_cents", "+", amount) }))
      .where("id", "=", order_id)
      .returningAll()
      .executeTakeFirst();
    // Asking again will not make the order appear: 400, and no retry.
    if (order === undefined) throw new Rejected(`order_id: there is no order ${order_id}`);
    await query.insertInto("shop_payments").values({ id: payment_id, order_id, cents: amount }).execute();
    const missing = order.total_cents - order.paid_cents;
    if (order.status === "open" && missing <= 0) {
      await query.updateTable("shop_orders").set({ status: "paid" }).where("id", "=", order_id).execute();
      await notify("order.paid", { order_id, paid_cents: order.paid_cents });
    }
    return { order_id, missing_cents: Math.max(0, missing) };
  },
});

export default defineConfig({ handlers: [orderPlaced, paymentNotify] });
