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

it("a dry run whose transaction PostgreSQL broke shows what its last run did, and nothing of the one before", () => {
  const plan = { fails: true, runs: 0 };
  const handler = defineHandler({
    type: "payout",
    data: z.object({}),
    async handle({ tx, notify }) {
      if (plan.fails) throw new Error("down");
      plan.runs += 1;
      await tx.execute("SELECT 1 AS one");
      await notify("payout.made", { run: plan.runs });
      if (plan.runs === 1) await tx.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$");
      return {};
    },
  });
  return withReceiver(
    "postgres",
    async (receiver) => {
      const sent = event("payout", {});
      await receiver.send(sent);
      plan.fails = false;
      const path = `/api/v1/failures/platform/${sent.event_id}/replay?dry_run=true`;
      expect((await receiver.admin(path, { method: "POST" })).body).toMatchObject({
        outcome: "success",
        statements: [{ sql: "SELECT 1 AS one", rows: 1 }],
        notifications: [{ topic: "payout.made", payload: { run: 2 } }],
      });
      expect(plan.runs).toBe(2);
    },
    { handlers: [handler] },
  );
});
