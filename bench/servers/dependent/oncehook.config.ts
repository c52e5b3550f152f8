import { z } from "zod";
import { paymentNotify } from "../../../src/handlers/index.ts";
import { defineConfig, defineHandler } from "../../../src/index.ts";

/** The built-in handler behind a question, whose answer it needs before it writes: no optimistic group takes it. */
const dependentPayment = defineHandler({
  type: "payment_notify",
  data: z.object({ order_id: z.string(), amount: z.number() }),
  migrations: paymentNotify.migrations,
  async handle(run) {
    const { rows } = await run.tx.execute("SELECT status FROM orders WHERE order_id = $1", [run.event.data.order_id]);
    return rows[0]?.status === "refunded" ? {} : paymentNotify.handle(run);
  },
});

export default defineConfig({ handlers: [dependentPayment] });
