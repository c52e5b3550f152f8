import { expect, it } from "vitest";
import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { latencyBucket } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/index.ts";
import { shopify, stripe } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { conforms } from "../support/openapi.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const HISTORY = "/api/v1/sources/{source}/history";
const DETAILS = "/api/v1/sources/{source}/details";
const NOON = Date.parse("2026-03-04T12:30:20.000Z");
const HOUR_MS = 3_600_000;
/** With a handler of its own a source ignores other types; without any it stores them. */
const delivered = defineHandler({
  source: "shop",
  type: "order.delivered",
  data: z.looseObject({}),
  handle: () => ({}),
});
const broken = defineHandler({
  source: "shop",
  type: "order.broken",
  data: z.looseObject({}),
  handle() {
    throw new Error("down");
  },
});
const sourcesOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN }).sources;

describeFullOnPostgres("one source in the admin API on %s", (dialect) => {
  it("its history has the latency of each period, with the deadline of its platform", () => {
    const clock = { now: NOON };
    return withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "o1" });
        // A count is stored later, in the period in which its callback came.
        clock.now += 2 * HOUR_MS;
        await deliverToShop(receiver, { id: "o2" });
        await receiver.send(payment());
        const path = "/api/v1/sources/shop/history";
        const answer = await receiver.admin(path);
        conforms(HISTORY, "get", answer);
        const day = await sourcesOf(receiver).history("shop");
        expect([day.span, day.step_seconds, day.buckets.length]).toEqual(["day", 900, 96]);
        expect(day.buckets.flatMap(({ at, callbacks }) => (callbacks > 0 ? [at] : []))).toEqual([
          "2026-03-04T12:30:00.000Z",
          "2026-03-04T14:30:00.000Z",
        ]);
        expect(day.totals).toEqual({
          callbacks: 2,
          p50_ms: expect.any(Number),
          p95_ms: expect.any(Number),
          p99_ms: expect.any(Number),
        });
        expect(day.deadline_ms).toBeNull();
        expect((await sourcesOf(receiver).history("orders")).deadline_ms).toBe(5_000);
        const hour = await sourcesOf(receiver).history("shop", "hour");
        expect([hour.totals.callbacks, hour.buckets.length]).toEqual([1, 60]);
        expect((await sourcesOf(receiver).history("shop", "month")).totals.callbacks).toBe(2);
      },
      {
        clock: { now: () => new Date(clock.now) },
        sources: { shop: shop(), orders: shopify({ secret: "the secret of the orders" }) },
      },
    );
  });

  it("its slowest callbacks are listed with their events, the slowest first", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["o1", "o2", "o3"]) await deliverToShop(receiver, { id });
        await receiver.send(payment());
        await sourcesOf(receiver).history("shop");
        await execute(receiver.target, "UPDATE oncehook_callbacks SET processing_ms = 900 WHERE event_id = 'o2'");
        const { slowest, is_complete } = await sourcesOf(receiver).history("shop", "hour");
        expect(slowest).toHaveLength(3);
        expect(slowest[0]).toMatchObject({
          event_id: "o2",
          event_type: "order",
          processing_ms: 900,
          outcome: "success",
        });
        expect(is_complete).toBe(true);
      },
      { sources: { shop: shop() } },
    ));

  it("its slowest callbacks may lie in as many periods, and a quick one does not stand among them", () => {
    const clock = { now: NOON };
    return withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"]) {
          for (const one of [id, `quick ${id}`]) await deliverToShop(receiver, { id: one });
          await receiver.admin("/api/v1/sources/health");
          clock.now += HOUR_MS;
        }
        await execute(
          receiver.target,
          `UPDATE oncehook_callbacks SET processing_ms = CASE WHEN event_id LIKE 's%' THEN 160 ELSE 2 END;
            DELETE FROM oncehook_rollups AS one WHERE bucket > (SELECT min(bucket) FROM oncehook_rollups AS other
              WHERE other.step_seconds = one.step_seconds AND other.slot = one.slot AND other.source = one.source);
            UPDATE oncehook_rollups SET bucket = ${latencyBucket(160)}, highest_ms = 160;
            UPDATE oncehook_rollups SET highest_ms = 168 WHERE slot = (SELECT min(slot) FROM oncehook_rollups WHERE step_seconds = 900);
            UPDATE oncehook_callbacks SET processing_ms = 166 WHERE event_id = 's1'`,
        );
        // The tallest period is read first, however old it is. Then none can hold a slower one than these.
        const tallest = await sourcesOf(receiver).history("shop");
        expect([tallest.slowest[0]?.event_id, tallest.slowest.length, tallest.is_complete]).toEqual(["s1", 5, true]);
        // Of counts of earlier versions only the bucket is known: all of these may be the slowest.
        await execute(
          receiver.target,
          `UPDATE oncehook_rollups SET highest_ms = NULL;
            UPDATE oncehook_callbacks SET processing_ms = 160 WHERE event_id = 's1'`,
        );
        const { slowest, is_complete } = await sourcesOf(receiver).history("shop");
        expect(slowest.map(({ event_id }) => event_id).sort()).toEqual(["s5", "s6", "s7", "s8", "s9"]);
        // The first one might be slower.
        expect(is_complete).toBe(false);
      },
      { clock: { now: () => new Date(clock.now) }, sources: { shop: shop() } },
    );
  });

  it("its history counts each callback once, and no endpoint check", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["o1", "o2"]) await deliverToShop(receiver, { id, type: "order.broken" });
        await until(async () => (await receiver.count("oncehook_failures", "state = 'exhausted'")) === 2);
        await sourcesOf(receiver).check("shop");
        const { totals, slowest } = await sourcesOf(receiver).history("shop", "hour");
        expect([totals.callbacks, slowest.map(({ event_id }) => event_id).sort()]).toEqual([2, ["o1", "o2"]]);
      },
      { sources: { shop: shop({ answer: "after", retry: { for: "0s" } }) }, handlers: [broken] },
    ));

  it("its details have the types that no handler takes, and the last endpoint check", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const type of ["order.paid", "order.paid", "order.sent"])
          await deliverToShop(receiver, { id: `${type} ${Math.random()}`, type });
        await until(async () => (await receiver.count("oncehook_callbacks", "outcome = 'ignored'")) === 3);
        conforms(DETAILS, "get", await receiver.admin("/api/v1/sources/shop/details"));
        const before = await sourcesOf(receiver).details("shop");
        expect(before.ignored.types.map(({ event_type, count }) => [event_type, count])).toEqual([
          ["order.paid", 2],
          ["order.sent", 1],
        ]);
        expect([before.ignored.since, before.reconcile, before.last_check]).toEqual([null, null, null]);
        const check = await sourcesOf(receiver).check("shop");
        const after = await receiver.admin("/api/v1/sources/shop/details");
        conforms(DETAILS, "get", after);
        expect((await sourcesOf(receiver).details("shop")).last_check?.check).toEqual(check);
      },
      { sources: { shop: shop() }, handlers: [delivered] },
    ));

  it("its details say how far the reconciliation of a source has come, and what it found", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = "/api/v1/sources/billing/details";
        const { reconcile } = await sourcesOf(receiver).details("billing");
        expect(reconcile).toEqual({
          every_seconds: 3_600,
          since: null,
          through: null,
          running: null,
          found: { count: 0, last_at: null },
        });
        await deliverToShop(receiver, { id: "o1" });
        const open = { from: "2026-03-04T10:00:00.000Z", to: "2026-03-04T11:00:00.000Z", cursor: "c", failed: 2 };
        const progress = { since: "2026-03-01T00:00:00.000Z", through: "2026-03-04T10:00:00.000Z", open };
        await execute(
          receiver.target,
          `INSERT INTO oncehook_settings (name, value) VALUES ('reconciled billing', '${JSON.stringify(progress)}');
            UPDATE oncehook_callbacks SET source = 'billing', method = 'RECONCILE', outcome = 'accepted'`,
        );
        conforms(DETAILS, "get", await receiver.admin(path));
        const { since, through, running, found } = (await sourcesOf(receiver).details("billing")).reconcile ?? {};
        expect([since, through, running]).toEqual([
          progress.since,
          progress.through,
          { from: open.from, to: open.to, failed: 2 },
        ]);
        expect(found).toEqual({ count: 1, last_at: expect.stringMatching(/Z$/) });
      },
      {
        // No run comes in the time of the test.
        reconcilePollMs: 3_600_000,
        sources: {
          shop: shop(),
          billing: stripe({
            secret: "whsec_of-the-tests",
            reconcile: { apiKey: "sk_test_key", every: "1h", apiUrl: "http://127.0.0.1:9" },
          }),
        },
      },
    ));

  it("a source that is not configured has no history and no details", () =>
    withReceiver(dialect, async (receiver) => {
      for (const path of ["history", "details"]) {
        const answer = await receiver.admin(`/api/v1/sources/other/${path}`);
        expect([answer.status, answer.body]).toEqual([404, { error: "there is no source of this name" }]);
      }
    }));
});
