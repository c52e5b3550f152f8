import { defineConfig, defineHandler, Rejected } from "oncehook";
import { z } from "zod";

type Tables = { priced_orders: { id: string; cents: number } };

// A setting of the handler's own: from the environment, checked when the file is loaded, so that a bad start is refused.
const PRICES_URL = process.env.PRICES_URL ?? "";
if (!URL.canParse(PRICES_URL)) throw new Error(`PRICES_URL: got "${PRICES_URL}", expected the address of the prices`);

export const orderPlaced = defineHandler({
  type: "order_placed",
  data: z.object({ order_id: z.string(), article: z.string() }),
  migrations: [{ name: "priced-orders", up: async ({ query }) => {
    await query.schema.createTable("priced_orders")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("cents", "integer", (column) => column.notNull())
      .execute();
  } }],
  // Once for each event, however often it is delivered or retried.
  async prepare({ event, signal }) {
    const response = await fetch(`${PRICES_URL}/${encodeURIComponent(event.data.article)}`, { signal });
    if (response.status === 404) throw new Rejected(`article: there is no ${event.data.article}`); // 400, no retry
    if (!response.ok) throw new Error(`the prices answered ${response.status}`); // 500, and a retry
    return z.object({ cents: z.number().int() }).parse(await response.json());
  },
  // In the transaction: typed by `withTables`, `prepared` typed by what `prepare` returns.
  async handle({ event, prepared, tx, notify }) {
    const { order_id } = event.data;
    const row = { id: order_id, cents: prepared.cents };
    await tx.query.withTables<Tables>().insertInto("priced_orders").values(row).execute();
    await notify("order.priced", { order_id, cents: prepared.cents }); // goes out after the commit
    return { order_id, cents: prepared.cents };
  },
});

export default defineConfig({ handlers: [orderPlaced] });
