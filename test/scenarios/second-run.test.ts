import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { rowsOf } from "../support/effects.ts";
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

it("a run that its group left behind as late does not change the response of the run that commits", () => {
  const firstRuns = new Map<string, PromiseWithResolvers<void>>();
  const slow = defineHandler({
    type: "payout",
    data: z.object({}),
    async handle({ event: { event_id } }) {
      const first = firstRuns.get(event_id);
      if (first !== undefined) {
        // The first run returns after this one, and before the answer to COMMIT.
        setImmediate(first.resolve);
        return { run: 2 };
      }
      const end = Promise.withResolvers<void>();
      firstRuns.set(event_id, end);
      // An event that is in no group has one run.
      await Promise.race([end.promise, sleep(300)]);
      return { run: 1 };
    },
  });
  return withReceiver(
    "postgres",
    async (receiver) => {
      const sent = Array.from({ length: 12 }, () => event("payout", {}));
      const responses = await Promise.all(sent.map((one) => receiver.send(one)));
      const rows = await rowsOf(receiver.target, "SELECT event_id, result FROM oncehook_records");
      const recorded = new Map(rows.map(({ event_id, result }) => [event_id, JSON.parse(String(result))]));
      expect([...recorded.values()]).toContainEqual({ run: 2 });
      for (const [at, { event_id }] of sent.entries())
        expect(responses[at]?.body).toEqual({ status: "success", data: recorded.get(event_id) });
    },
    { handlers: [slow] },
  );
});
