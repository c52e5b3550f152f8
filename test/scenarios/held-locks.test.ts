import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

/** The second process gives up before the first one's handler has to. */
const SHORT = { REQUEST_TIMEOUT_MS: "1500", HANDLER_TIMEOUT_MS: "1000" };
const FIRST = { id: "first", object: "o1" };

interface Held {
  readonly other: TestReceiver;
  readonly open: () => void;
}

/** Two processes on one database: the handler of the first one is at work until the gate opens. */
function withHeldLock(
  settings: Parameters<typeof shop>[0],
  isOrdered: boolean,
  use: (held: Held) => Promise<void>,
): Promise<void> {
  return withMigrated("postgres", async (target) => {
    const gate = Promise.withResolvers<void>();
    const runs: string[] = [];
    const handler = defineHandler({
      source: "shop",
      type: "order",
      ...(isOrdered && { orderBy: "data.object" }),
      data: z.object({ object: z.string() }),
      async handle({ event }) {
        runs.push(event.event_id);
        await gate.promise;
        return { ran: event.event_id };
      },
    });
    const handlers = [handler];
    const { answer: _, ...inline } = settings ?? {};
    const one = await startReceiver(target, { sources: { shop: shop(inline) }, handlers });
    const other = await startReceiver(target, { sources: { shop: shop(settings) }, handlers, env: SHORT });
    const first = deliverToShop(one, FIRST);
    try {
      await until(() => runs.length === 1);
      await use({ other, open: gate.resolve });
    } finally {
      gate.resolve();
      await first;
      await one.stop();
      await other.stop();
    }
  });
}

const BUSY = { status: 503, body: { error: "temporarily unavailable" } };
const outcomesOf = async (receiver: TestReceiver) => {
  const { items } = (await receiver.admin("/api/v1/callbacks?status=503")).body as {
    items: { outcome: string }[];
  };
  return items.map(({ outcome }) => outcome);
};

describe("what another process holds until the deadline, on PostgreSQL", () => {
  it("an event whose order key is held returns 503 and is no failure: it has not run", { tags: "full" }, () =>
    withHeldLock({}, true, async ({ other, open }) => {
      const second = { id: "second", object: "o1" };
      expect(await deliverToShop(other, second)).toEqual(BUSY);
      await until(async () => (await outcomesOf(other)).length > 0);
      expect(await outcomesOf(other)).toEqual(["handler_busy"]);
      expect(await other.count("oncehook_failures")).toBe(0);
      open();
      expect(await deliverToShop(other, second)).toMatchObject({ body: { data: { ran: "second" } } });
    }),
  );

  it("an accepted event whose order key is held waits on, and the attempt does not count", { tags: "full" }, () =>
    withHeldLock({ answer: "after" }, true, async ({ other }) => {
      const accepted = await deliverToShop(other, { id: "second", object: "o1" });
      expect(accepted.body).toEqual({ status: "accepted" });
      const putOff = "lease_owner IS NULL AND next_attempt_at > now() + interval '30 s'";
      await until(async () => (await other.count("oncehook_failures", putOff)) === 1);
      const columns = "event_id, state, attempts, retries_done";
      expect(await rowsOf(other.target, `SELECT ${columns} FROM oncehook_failures`)).toEqual([
        { event_id: "second", state: "accepted", attempts: 0, retries_done: 0 },
      ]);
      expect(await other.count("oncehook_attempts")).toBe(0);
    }),
  );

  it(
    "an event whose bytes are the key returns 503 under another id while it runs, and is no failure",
    { tags: "full" },
    () =>
      withHeldLock({ id: "header.X-Event-Id", identity: "bytes" }, false, async ({ other, open }) => {
        expect(await deliverToShop(other, FIRST, { "X-Event-Id": "another" })).toEqual(BUSY);
        await until(async () => (await outcomesOf(other)).length > 0);
        expect(await outcomesOf(other)).toEqual(["event_in_progress"]);
        expect(await other.count("oncehook_failures")).toBe(0);
        open();
        await until(async () => (await other.count("oncehook_records", "status = 'completed'")) === 1);
        const again = await deliverToShop(other, FIRST, { "X-Event-Id": "another" });
        expect(again.body).toEqual({ status: "already_processed" });
      }),
  );
});
