import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { paymentNotify } from "../../../src/handlers/index.ts";
import { defineConfig, defineHandler } from "../../../src/index.ts";

/** The built-in handler with 20 ms of outside work before it, which a platform's API would take. */
const slowPayment = defineHandler({
  type: "payment_notify",
  data: z.object({ order_id: z.string(), amount: z.number() }),
  migrations: paymentNotify.migrations,
  async prepare() {
    await wait(20);
    return { looked_up: true };
  },
  handle: paymentNotify.handle,
});

export default defineConfig({ handlers: [slowPayment] });
