import { expect, it } from "vitest";
import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { withStoreBeside } from "../support/beside.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { conforms } from "../support/openapi.ts";
import { event, payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const PATH = "/api/v1/overview";
const MINUTE_MS = 60_000;
const broken = defineHandler({
  type: "broken",
  data: z.object({}),
  handle() {
    throw new Error("down");
  },
});
const overviewOf = ({ adminOrigin }: TestReceiver, span: "hour" | "day" | "month" = "hour", source?: string) =>
  createAdminClient({ origin: adminOrigin, token: TOKEN }).overview(span, source);

describeFullOnPostgres("the overview on %s", (dialect) => {
  it("the overview counts outcomes and latencies, in every period of the span", () => {
    let now = Date.parse("2026-03-04T12:34:20.000Z");
    const clock = { now: () => new Date(now) };
    return withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment({ event_id: "e1" }));
        await receiver.send(payment({ event_id: "e1" }));
        await overviewOf(receiver);
        now += 3 * MINUTE_MS;
        await receiver.send(payment(), { secret: "z".repeat(32) });
        const answer = await receiver.admin(PATH);
        conforms(PATH, "get", answer);
        const hour = await overviewOf(receiver);
        expect([hour.from, hour.to, hour.step_seconds, hour.buckets.length]).toEqual([
          "2026-03-04T11:38:00.000Z",
          "2026-03-04T12:37:20.000Z",
          60,
          60,
        ]);
        const filled = hour.buckets.filter(({ outcomes }) => Object.keys(outcomes).length > 0);
        expect(filled.map(({ at, outcomes }) => [at, outcomes])).toEqual([
          ["2026-03-04T12:34:00.000Z", { success: 1, already_processed: 1 }],
          ["2026-03-04T12:37:00.000Z", { signature_mismatch: 1 }],
        ]);
        expect(filled.every((one) => Number(one.p50_ms) > 0 && Number(one.p99_ms) >= Number(one.p50_ms))).toBe(true);
        expect(hour.buckets[0]).toEqual({ at: hour.from, outcomes: {}, p50_ms: null, p99_ms: null });
        const outcomes = { success: 1, already_processed: 1, signature_mismatch: 1 };
        for (const span of ["hour", "day", "month"] as const) {
          const { totals, buckets } = await overviewOf(receiver, span);
          expect([span, totals.outcomes]).toEqual([span, outcomes]);
          const ofSources = await Promise.all(["platform", "other"].map((one) => overviewOf(receiver, span, one)));
          expect(ofSources.map((one) => one.totals.outcomes)).toEqual([outcomes, {}]);
          expect(totals.p50_ms).toBeGreaterThan(0);
          expect(Date.parse(String(buckets.at(-1)?.at))).toBeLessThanOrEqual(now);
        }
      },
      { clock },
    );
  });

  it("the overview includes the counts of several processes, also those that have stopped", () =>
    withDatabase(dialect, async (target) => {
      const first = await startReceiver(target, { rollupPollMs: 20 });
      const second = await startReceiver(target);
      try {
        await first.send(payment());
        await second.send(payment());
        await until(async () => (await overviewOf(second)).totals.outcomes.success === 2);
        await first.send(payment());
      } finally {
        await first.stop();
      }
      expect((await overviewOf(second)).totals.outcomes).toEqual({ success: 3 });
      await second.stop();
    }));

  it("the overview adds counts later that the database did not take", () =>
    withReceiver(dialect, async (receiver) => {
      const rename = (from: string, to: string) => execute(receiver.target, `ALTER TABLE ${from} RENAME TO ${to}`);
      await rename("oncehook_rollups", "away");
      for (const _ of [1, 2]) {
        await receiver.send(payment());
        expect((await receiver.admin(PATH)).status).toBe(500);
      }
      await rename("away", "oncehook_rollups");
      await receiver.send(payment());
      expect((await overviewOf(receiver)).totals.outcomes).toEqual({ success: 3 });
    }));

  it("the overview shows failures, dead notifications, open alerts and a previous secret in use", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await overviewOf(receiver)).needs_attention).toEqual([]);
        await receiver.send(event("broken", {}));
        await receiver.send(payment(), { secret: "p".repeat(32) });
        const since = new Date(Date.now() - MINUTE_MS);
        await withStoreBeside(receiver.target, async (store) => {
          const alert = {
            kind: "silence",
            source: "platform",
            subject: "parcel",
            notifiedAt: since,
          } as const;
          await store.alerts.change({ ...alert, from: 0, isOpen: true, since, notifiedCount: 0 });
          await store.outbox.fanOut(["webhook"], systemClock.now(), 10);
          const lease = { owner: "test", now: new Date(), until: new Date(Date.now() + MINUTE_MS) };
          const [due] = await store.notificationDeliveries.leaseDue(["webhook"], lease, 1);
          await store.notificationDeliveries.markFailed(Number(due?.id), "test", "gone", null);
        });
        await until(async () => (await overviewOf(receiver)).needs_attention.length === 4);
        const overview = await overviewOf(receiver);
        conforms(PATH, "get", { status: 200, body: overview });
        expect(overview.failures).toEqual({
          accepted: 0,
          oldest_accepted_at: null,
          waiting: 0,
          exhausted: 1,
          rejected: 0,
          next_attempt_at: null,
        });
        expect(overview.notifications.dead).toBe(1);
        expect(overview.alerts).toEqual([
          {
            ...{ kind: "silence", source: "platform", subject: "parcel", since: since.toISOString() },
            ...{ state: "open", is_open: true, muted_until: null, muted_by: null, reason: null },
          },
        ]);
        expect(overview.needs_attention.map(({ kind, count }) => [kind, count])).toEqual([
          ["open_alert", 1],
          ["exhausted_failures", 1],
          ["dead_notifications", 1],
          ["previous_secret_in_use", 1],
        ]);
      },
      { handlers: [broken], env: { RETRY_MAX: "0", SIGNING_SECRET_PREVIOUS: "p".repeat(32) } },
    ));

  it("the overview shows the time of the next retry", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(event("broken", {}));
        const { failures } = await overviewOf(receiver);
        expect(failures).toMatchObject({ waiting: 1, exhausted: 0 });
        expect(Date.parse(String(failures.next_attempt_at))).toBeGreaterThan(Date.now());
      },
      { handlers: [broken] },
    ));
});
