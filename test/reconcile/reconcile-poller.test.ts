import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import type { SourceSettings } from "../../src/sources/source-definition.ts";
import { describeFullOnPostgres, type Target, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { withHttpServer } from "../support/http-server.ts";
import { type PlatformApi, type StripeEvent, stripeApi } from "../support/platform-api.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const SECRET = "whsec_0123456789abcdef";
const KEY = "sk_live_do_not_log_me_0123";
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** A clock that a test moves, of all processes. */
class Hand {
  ms = Date.parse("2026-10-01T00:00:00Z");
  readonly now = () => new Date(this.ms);
  readonly seconds = () => Math.floor(this.ms / 1_000);
}

interface Scene {
  readonly hand: Hand;
  readonly api: PlatformApi;
  readonly events: StripeEvent[];
  readonly handled: string[];
  readonly target: Target;
  /** A further process on the database. */
  start(env?: Record<string, string>): Promise<TestReceiver>;
  /** Resolves when the API was asked by so many more requests, and they were answered. */
  asked(more: number): Promise<void>;
}

function withScene(
  dialect: Target["dialect"],
  use: (scene: Scene) => Promise<void>,
  { pageSize = 100, settings = {} }: { pageSize?: number; settings?: SourceSettings } = {},
): Promise<void> {
  const hand = new Hand();
  const events: StripeEvent[] = [];
  const api = stripeApi(events, pageSize);
  const handled: string[] = [];
  const handler = defineHandler({
    source: "stripe",
    type: "invoice.paid",
    data: z.looseObject({}),
    handle: ({ event }) => ({ count: handled.push(event.event_id) }),
  });
  const audited = [undefined, "audit", "copy"].map((name) =>
    defineHandler({
      source: "stripe",
      ...(name !== undefined && { name }),
      type: name === undefined ? "audited.twice" : "audited.*",
      data: z.looseObject({}),
      handle: ({ event }) => ({ count: handled.push(`${name} ${event.event_id}`) }),
    }),
  );
  return withHttpServer(api.answer, (apiUrl) =>
    withMigrated(dialect, async (target) => {
      const receivers: TestReceiver[] = [];
      const reconcile = { apiKey: KEY, apiUrl, every: "10m" } as const;
      async function start(env: Record<string, string> = {}) {
        const receiver = await startReceiver(target, {
          ...{ env, clock: hand, handlers: [handler, ...audited], retryPollMs: 20, reconcilePollMs: 20 },
          sources: { stripe: stripe({ secret: SECRET, reconcile, ...settings }) },
        });
        receivers.push(receiver);
        return receiver;
      }
      const asked = async (more: number) => {
        const count = api.asked.length + more;
        await until(() => api.asked.length >= count);
      };
      try {
        await use({ hand, api, events, handled, target, start, asked });
      } finally {
        await Promise.all(receivers.map((receiver) => receiver.stop()));
      }
    }),
  );
}

const event = (id: string, created: number): StripeEvent => ({
  ...{ id, object: "event", type: "invoice.paid", created, data: { object: {} } },
});

async function progress(target: Target) {
  const rows = await rowsOf(target, "SELECT value FROM oncehook_settings WHERE name = 'reconciled stripe'");
  return rows[0] === undefined ? undefined : JSON.parse(String(rows[0].value));
}

/** A complete run has ended at this time of the clock. */
const lookedThrough = (target: Target, ms: number) =>
  until(async () => (await progress(target))?.through === new Date(ms - 5 * MINUTE_MS).toISOString());

describeFullOnPostgres("scheduled reconciliation on %s", (dialect) => {
  it("a missing event is handled, and no event from before the first run", () =>
    withScene(dialect, async ({ hand, events, handled, target, start }) => {
      events.push(event("evt_before", hand.seconds() - 3_600));
      const receiver = await start();
      await lookedThrough(target, hand.ms);
      events.push(event("evt_missing", hand.seconds()));
      hand.ms += 10 * MINUTE_MS;
      await until(() => handled.length > 0);
      await lookedThrough(target, hand.ms);
      expect(handled).toEqual(["evt_missing"]);
      const metrics = await (await fetch(`${receiver.adminOrigin}/metrics`)).text();
      expect(metrics).toContain('oncehook_reconciled_total{source="stripe",outcome="accepted"} 1');
      expect(metrics).toContain('oncehook_reconcile_runs_total{source="stripe",outcome="completed"} 2');
      await until(async () => (await receiver.count("oncehook_callbacks", "method = 'RECONCILE'")) === 1);
      expect(JSON.stringify(receiver.lines)).not.toContain(KEY);
    }));

  it("an event that the filters of its source leave out is not handled", () =>
    withScene(
      dialect,
      async ({ hand, events, handled, target, start }) => {
        await start();
        await lookedThrough(target, hand.ms);
        events.push(event("evt_unwanted", hand.seconds()), event("evt_wanted", hand.seconds()));
        hand.ms += 10 * MINUTE_MS;
        await until(() => handled.includes("evt_wanted"));
        await lookedThrough(target, hand.ms);
        expect(handled).toEqual(["evt_wanted"]);
      },
      { settings: { filter: ({ event_id }) => event_id === "evt_wanted" } },
    ));

  it("a missing event is handled by each handler of its type, those with a name among them", () =>
    withScene(dialect, async ({ hand, events, handled, target, start }) => {
      await start();
      await lookedThrough(target, hand.ms);
      events.push({ ...event("evt_1", hand.seconds()), type: "audited.once" });
      events.push({ ...event("evt_2", hand.seconds()), type: "audited.twice" });
      hand.ms += 10 * MINUTE_MS;
      await lookedThrough(target, hand.ms);
      const expected = ["audit evt_1", "audit evt_2", "copy evt_1", "copy evt_2", "undefined evt_2"];
      await until(() => handled.length === expected.length);
      expect(handled.toSorted()).toEqual(expected);
    }));

  it("an event that the platform lists late is found by the next run, which overlaps", () =>
    withScene(dialect, async ({ hand, events, handled, target, start }) => {
      await start();
      await lookedThrough(target, hand.ms);
      const created = hand.seconds();
      hand.ms += 15 * MINUTE_MS;
      await lookedThrough(target, hand.ms);
      events.push(event("evt_late", created));
      hand.ms += 15 * MINUTE_MS;
      await until(() => handled.length > 0);
      expect(handled).toEqual(["evt_late"]);
    }));

  it("two processes on one database make one run an interval", () =>
    withScene(dialect, async ({ hand, api, target, start }) => {
      const [one, other] = [await start(), await start()];
      await lookedThrough(target, hand.ms);
      for (let round = 2; round <= 4; round += 1) {
        hand.ms += 10 * MINUTE_MS;
        await lookedThrough(target, hand.ms);
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(api.asked).toHaveLength(round);
      }
      await Promise.all([one.stop(), other.stop()]);
    }));

  it("a run that its process did not finish continues at its page, and loses nothing", () =>
    withScene(
      dialect,
      async ({ hand, api, events, handled, target, start, asked }) => {
        const receiver = await start();
        await lookedThrough(target, hand.ms);
        for (const n of [1, 2, 3, 4]) events.push(event(`evt_${n}`, hand.seconds() + n));
        // The second page is never answered.
        api.interfere = ({ url }) => url.searchParams.get("starting_after") === "evt_3";
        hand.ms += 10 * MINUTE_MS;
        await asked(2);
        await receiver.stop();
        expect((await progress(target)).open).toMatchObject({ cursor: "evt_3", failed: 0 });
        api.interfere = undefined;
        const before = api.asked.length;
        await start();
        await until(() => handled.length === 4);
        expect(handled.toSorted()).toEqual(["evt_1", "evt_2", "evt_3", "evt_4"]);
        expect(api.asked[before]?.url.searchParams.get("starting_after")).toBe("evt_3");
        await lookedThrough(target, hand.ms);
        expect((await progress(target)).open).toBeUndefined();
      },
      { pageSize: 2 },
    ));

  it("a run whose cursor the platform refuses starts its window again", () =>
    withScene(
      dialect,
      async ({ hand, api, events, handled, target, start, asked }) => {
        const first = await start();
        await lookedThrough(target, hand.ms);
        for (const n of [1, 2, 3]) events.push(event(`evt_${n}`, hand.seconds() + n));
        api.interfere = ({ url }) => url.searchParams.has("starting_after");
        hand.ms += 10 * MINUTE_MS;
        await asked(2);
        await first.stop();
        api.interfere = (_request, _count, response) => {
          response.writeHead(400).end();
          return true;
        };
        const second = await start();
        await until(() => second.lines.some(({ msg }) => String(msg).includes("did not finish")));
        await until(async () => (await progress(target)).open === undefined);
        api.interfere = undefined;
        hand.ms += 10 * MINUTE_MS;
        await until(() => handled.length === 3);
        await lookedThrough(target, hand.ms);
        expect(handled.toSorted()).toEqual(["evt_1", "evt_2", "evt_3"]);
      },
      { pageSize: 2 },
    ));

  it("a run that the platform refuses is repeated within five minutes from the same time on", () =>
    withScene(dialect, async ({ hand, api, events, handled, target, start }) => {
      const receiver = await start();
      await lookedThrough(target, hand.ms);
      events.push(event("evt_missing", hand.seconds()));
      api.interfere = (_request, _count, response) => {
        response.writeHead(401).end();
        return true;
      };
      hand.ms += 10 * MINUTE_MS;
      await until(() => receiver.lines.some(({ msg }) => String(msg).includes("did not finish")));
      expect(JSON.stringify(receiver.lines)).toContain("`reconcile.apiKey` is not accepted");
      api.interfere = undefined;
      hand.ms += 5 * MINUTE_MS;
      await until(() => handled.length === 1);
      expect(handled).toEqual(["evt_missing"]);
    }));

  it("a run with an event that cannot be read accepts the others, and is not complete", () =>
    withScene(dialect, async ({ hand, events, handled, target, start }) => {
      const receiver = await start();
      await lookedThrough(target, hand.ms);
      const before = await progress(target);
      events.push({ ...event("evt_bad", hand.seconds()), type: "" }, event("evt_good", hand.seconds()));
      hand.ms += 10 * MINUTE_MS;
      const isReported = () => receiver.lines.some(({ msg }) => String(msg).includes("they are retried"));
      await until(() => handled.length === 1 && isReported());
      expect(handled).toEqual(["evt_good"]);
      expect(await progress(target)).toEqual(before);
    }));

  it("the log reports a time that the platform's list does not reach", () =>
    withScene(dialect, async ({ hand, api, target, start }) => {
      const receiver = await start();
      await lookedThrough(target, hand.ms);
      hand.ms += 40 * DAY_MS;
      await lookedThrough(target, hand.ms);
      expect(receiver.lines.some(({ msg }) => String(msg).includes("cannot be found"))).toBe(true);
      const from = Number(api.asked.at(-1)?.url.searchParams.get("created[gte]")) * 1_000;
      expect(from).toBe(hand.ms - 30 * DAY_MS);
    }));

  it("a run does not go back beyond the records, without which a duplicate looks new", () =>
    withScene(dialect, async ({ hand, api, target, start }) => {
      await start({ RECORD_RETENTION_DAYS: "10" });
      await lookedThrough(target, hand.ms);
      hand.ms += 20 * DAY_MS;
      await lookedThrough(target, hand.ms);
      const from = Number(api.asked.at(-1)?.url.searchParams.get("created[gte]")) * 1_000;
      expect(from).toBe(hand.ms - 10 * DAY_MS);
    }));
});
