import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { event, withReceiver } from "../support/receiver.ts";

it("a handler whose transaction PostgreSQL broke runs again on the event as it came, whatever it has made of it", () => {
  let runs = 0;
  const inCents = defineHandler({
    type: "payout",
    data: z.object({ amount: z.number(), lines: z.any() }),
    prepare: async () => ({ vouchers: ["a"] }),
    async handle({ event: { data }, prepared, tx }) {
      runs += 1;
      data.amount *= 100;
      data.lines.push("fee");
      const voucher = prepared.vouchers.pop();
      if (runs === 1) await tx.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$");
      return { amount: data.amount, lines: data.lines, voucher: voucher ?? null };
    },
  });
  return withReceiver(
    "postgres",
    async (receiver) => {
      const { body } = await receiver.send(event("payout", { amount: 12, lines: ["goods"] }));
      expect(body).toEqual({
        status: "success",
        data: { amount: 1200, lines: ["goods", "fee"], voucher: "a" },
      });
      expect(runs).toBe(2);
    },
    { handlers: [inCents] },
  );
});
