import { expect, it } from "vitest";
import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { outcomeCounts } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/index.ts";
import { shopify } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { conforms } from "../support/openapi.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const PATH = "/api/v1/sources/health";
const HOUR_MS = 3_600_000;
const NOON = Date.parse("2026-03-04T12:30:20.000Z");
const broken = defineHandler({
  type: "broken",
  data: z.object({}),
  handle() {
    throw new Error("down");
  },
});

describeFullOnPostgres("the health of sources on %s", (dialect) => {
  const withClock = (use: (receiver: TestReceiver, clock: { now: number }) => Promise<void>) => {
    const clock = { now: NOON };
    const options = {
      clock: { now: () => new Date(clock.now) },
      handlers: [broken],
      env: { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" },
      sources: { shop: shopify({ secret: "the secret of the shop" }) },
    };
    return withReceiver(dialect, (receiver) => use(receiver, clock), options);
  };
  const healthOf = async ({ adminOrigin }: TestReceiver) => {
    const { items } = await createAdminClient({ origin: adminOrigin, token: TOKEN }).sources.health();
    return items;
  };

  it("one request has each source's last hour, its p99 with its deadline, and its last callback", () =>
    withClock(async (receiver, clock) => {
      await receiver.send(payment());
      // A count lies in the minute in which it is stored.
      await receiver.admin(PATH);
      clock.now += 2 * HOUR_MS;
      await receiver.send(payment());
      await receiver.send(payment());
      conforms(PATH, "get", await receiver.admin(PATH));
      const [platform, shop] = await healthOf(receiver);
      expect(platform).toMatchObject({
        source: "platform",
        title: null,
        state: "ok",
        from: "2026-03-04T13:31:00.000Z",
        outcomes: { success: 2 },
        // Thirty of two minutes; the last one has begun.
        periods: [...Array.from({ length: 29 }, () => ({})), { success: 2 }],
        p99_ms: expect.any(Number),
        deadline_ms: null,
        // The second in which it came, and not the minute of its count.
        last_callback_at: expect.stringMatching(/^2026-03-04T14:30:(?:19|20)\./),
        last_callback_within_seconds: 0,
      });
      expect(shop).toMatchObject({ source: "shop", title: "Shopify", state: "idle", outcomes: {}, p99_ms: null });
      expect(shop?.deadline_ms).toBe(5_000);
      expect(shop?.last_callback_at).toBe(null);
    }));

  it("an endpoint check counts as no callback: neither as its last one, nor in its p99", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await createAdminClient({ origin: receiver.adminOrigin, token: TOKEN }).sources.check("shop");
        await until(async () => (await receiver.count("oncehook_callbacks", "outcome = 'endpoint_check'")) > 0);
        const source = (await healthOf(receiver)).find((one) => one.source === "shop");
        expect(source).toMatchObject({ state: "idle", p99_ms: null, last_callback_at: null });
        expect(source?.outcomes).toHaveProperty("endpoint_check");
      },
      { sources: { shop: shop() } },
    ));

  it("a source is failing after one failure, and refusing where most of its callbacks are refused", () =>
    withClock(async (receiver) => {
      await receiver.send(payment());
      for (let sent = 0; sent < 2; sent += 1) await receiver.send(payment(), { secret: "z".repeat(32) });
      expect((await healthOf(receiver))[0]?.state).toBe("refusing");
      await receiver.send(event("broken", {}));
      expect((await healthOf(receiver))[0]?.state).toBe("failing");
    }));

  it("a source that called in most hours of a day is silent after an hour without a callback, and then idle", () =>
    withClock(async (receiver, clock) => {
      for (let hour = 0; hour < 20; hour += 1) {
        await receiver.send(payment());
        await receiver.admin(PATH);
        clock.now += HOUR_MS;
      }
      clock.now += HOUR_MS;
      const [platform] = await healthOf(receiver);
      expect(platform).toMatchObject({ state: "silent", last_callback_within_seconds: 0 });
      expect(platform?.last_callback_at).toMatch(/^2026-03-05T07:30:(?:19|20)\./);
      // As counts of earlier versions are, of which only the period is known.
      await execute(receiver.target, "UPDATE oncehook_rollups SET last_at = NULL");
      expect((await healthOf(receiver))[0]).toMatchObject({
        last_callback_at: "2026-03-05T07:30:00.000Z",
        last_callback_within_seconds: 900,
      });
      clock.now += 24 * HOUR_MS;
      expect((await healthOf(receiver))[0]).toMatchObject({ state: "idle", last_callback_at: null });
    }));

  it("a source that accepts first has as many failed events as exhausted ones, and none of them handled", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["e1", "e2", "e3"])
          expect((await deliverToShop(receiver, { id, type: "broken" })).body.status).toBe("accepted");
        await until(async () => (await receiver.count("oncehook_failures", "state = 'exhausted'")) === 3);
        const source = (await healthOf(receiver)).find((one) => one.source === "shop");
        expect(outcomeCounts(source?.outcomes ?? {})).toMatchObject({ handled: 0, failed: 3 });
      },
      {
        sources: { shop: shop({ answer: "after", retry: { for: "0s" } }) },
        handlers: [{ ...broken, source: "shop" }],
      },
    ));
});
