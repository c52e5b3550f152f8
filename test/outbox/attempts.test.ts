import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fixedRetries, growingRetries } from "../../src/domain/index.ts";
import {
  type Channel,
  createOutboxPoller,
  DeliveryPostponedError,
  logChannel,
  PermanentDeliveryError,
} from "../../src/outbox/index.ts";
import type { ListedNotification, Outbox, Store, StoredNotification } from "../../src/store/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { overriding } from "../support/overriding.ts";
import { until } from "../support/until.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);

function notify(store: Store, count: number): Promise<unknown> {
  return runOnce(
    store,
    newRecord("e1"),
    async ({ enqueue }) => {
      for (let number = 0; number < count; number += 1) await enqueue({ topic: "t", payload: { number } });
      return { result: {} };
    },
    committing(),
  );
}

type Deliver = (notification: StoredNotification, signal: AbortSignal) => Promise<void>;

const channelOf = (deliver: Deliver, over: Partial<Channel> = {}): Channel => ({
  name: "shop",
  destinations: ["shop"],
  timeLimitMs: 20_000,
  deliver,
  ...over,
});

function loopOf(
  channel: Channel,
  { outbox, notificationDeliveries }: Pick<Store, "outbox" | "notificationDeliveries">,
  over: Partial<Parameters<typeof createOutboxPoller>[0]> = {},
) {
  const log = recordedLog();
  const counted: string[] = [];
  const loop = createOutboxPoller({
    outbox,
    deliveries: notificationDeliveries,
    channels: [channel],
    policy: fixedRetries(2, 5),
    clock: systemClock,
    log,
    describe: (error) => `described: ${(error as Error).message}`,
    attempted: (name, ending) => counted.push(`${name} ${ending}`),
    ...over,
  });
  return { loop, log, counted };
}

async function storedDeliveries({ notifications }: Store): Promise<ListedNotification["deliveries"][number][]> {
  return (await notifications.list({ limit: 400 }, {})).flatMap((one) => one.deliveries);
}

/** Every notification fails with the next of these errors; without one it is taken. */
const failing =
  (errors: unknown[]): Deliver =>
  async () => {
    if (errors.length > 0) throw errors.shift();
  };

describe("a round", () => {
  it("a round passes on to the log all that is fresh, however much it is", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 251);
      const { loop, counted } = loopOf(
        logChannel(recordedLog(), (payload) => payload),
        store,
      );
      await loop.round();
      expect(counted).toHaveLength(251);
    }));
});

describe("an attempt", () => {
  it("an attempt is counted and logged by its outcome", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 3);
      const errors = [new Error("down"), new PermanentDeliveryError("gone")];
      const { loop, log, counted } = loopOf(channelOf(failing(errors)), store);
      await loop.round();
      expect(counted.toSorted()).toEqual(["shop dead", "shop delivered", "shop failed"]);
      expect(log.lines.map(({ level }) => level).toSorted()).toEqual(["debug", "error", "warn"]);
      const ended = (await storedDeliveries(store)).map(({ state, error }) => [state, error]);
      expect(ended.toSorted()).toEqual([
        ["dead", "described: gone"],
        ["delivered", null],
        ["waiting", "described: down"],
      ]);
    }));

  it("a delivery comes again when the receiver asked for it, with Retry-After in seconds", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      let now = T0;
      const clock = { now: () => now };
      const policy = growingRetries(2, { firstMs: 5_000, factor: 4, maxMs: 43_200_000 });
      const asked = [new DeliveryPostponedError("later", 120), new DeliveryPostponedError("never", 10_000_000)];
      const { loop } = loopOf(channelOf(failing(asked)), store, { clock, policy });
      await loop.round();
      expect(await storedDeliveries(store)).toMatchObject([{ nextAttemptAt: at(120).toISOString() }]);
      now = at(120);
      await loop.round();
      // For as long as the schedule's longest delay at most.
      expect(await storedDeliveries(store)).toMatchObject([{ nextAttemptAt: at(120 + 43_200).toISOString() }]);
    }));

  it("an attempt whose process ends during it is not repeated before the first delay", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      const during: ListedNotification["deliveries"][number][] = [];
      const channel = channelOf(async () => void during.push(...(await storedDeliveries(store))));
      const clock = { now: () => T0 };
      await loopOf(channel, store, { clock }).loop.round();
      expect(during).toMatchObject([{ attempts: 1, nextAttemptAt: at(5).toISOString() }]);
    }));

  it("an attempt on a receiver that hangs ends with its channel's time limit, and counts", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      const hanging: Deliver = (_notification, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const { loop } = loopOf(channelOf(hanging, { timeLimitMs: 20 }), store);
      await loop.round();
      expect(await storedDeliveries(store)).toMatchObject([
        { state: "waiting", attempts: 1, error: expect.stringContaining("timeout") },
      ]);
    }));

  it("an attempt that fails without a reason does not count as delivered", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      await loopOf(channelOf(failing([undefined])), store).loop.round();
      expect(await storedDeliveries(store)).toMatchObject([
        { state: "waiting", error: "described: the channel failed without a reason" },
      ]);
    }));

  it("an attempt whose outcome cannot be stored is logged and does not stop the round", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      const away = new Error("the database is away");
      const notificationDeliveries = overriding(store.notificationDeliveries, {
        markDelivered: () => Promise.reject(away),
      });
      const { loop, log } = loopOf(
        channelOf(async () => {}),
        { ...store, notificationDeliveries },
      );
      await loop.round();
      expect(log.lines).toMatchObject([{ level: "error", fields: { err: away, channel: "shop" } }]);
    }));

  it("a delivery without attempts left is dead, with the error of the last attempt", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      let now = T0;
      const clock = { now: () => now };
      const channel = channelOf(failing([new Error("down")]));
      await loopOf(channel, store, { clock }).loop.round();
      now = at(60);
      const policy = fixedRetries(0, 5);
      const { loop, log, counted } = loopOf(channel, store, { clock, policy });
      await loop.round();
      expect(await storedDeliveries(store)).toMatchObject([
        { state: "dead", attempts: 1, error: expect.stringMatching(/the attempt before: described: down$/) },
      ]);
      expect([counted, log.lines.map(({ level }) => level)]).toEqual([["shop dead"], ["error"]]);
    }));

  it("an attempt is not delayed by a clock that was set back since the previous failure", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      let now = at(3_600);
      const channel = channelOf(failing([new Error("down")]));
      const { loop, counted } = loopOf(channel, store, { clock: { now: () => now } });
      for (const seconds of [3_600, 0, 6]) {
        now = at(seconds);
        await loop.round();
      }
      expect(counted).toEqual(["shop failed", "shop delivered"]);
    }));
});

describe("the attempts of a channel", () => {
  /** A channel whose attempts wait for each other, and the most that were under way at a time. */
  function crowded(atOnce: number) {
    const [full, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const seen = { underWay: 0, most: 0 };
    const deliver: Deliver = async () => {
      seen.underWay += 1;
      seen.most = Math.max(seen.most, seen.underWay);
      if (seen.underWay === atOnce) full.resolve();
      await gate.promise;
      seen.underWay -= 1;
    };
    return {
      channel: channelOf(deliver),
      seen,
      full: full.promise,
      open: gate.resolve,
    };
  }

  it.each(["before", "during"])(
    "a channel never has more attempts at once than its bound, where other processes end %s a round",
    (when) =>
      withStore("sqlite", async (store) => {
        await notify(store, 20);
        await store.outbox.fanOut(["shop"], T0, 30);
        const leave = () => store.notificationDeliveries.leaseDue(["shop"], { owner: "ended", now: T0, until: T0 }, 2);
        if (when === "before") await leave();
        const { channel, seen, full, open } = crowded(16);
        const asked: Promise<unknown>[] = [];
        const spread = Promise.withResolvers<void>();
        let isFull = false;
        const outbox = overriding(store.outbox, {
          async fanOut(...given) {
            if (isFull) setImmediate(spread.resolve);
            return store.outbox.fanOut(...given);
          },
        });
        const notificationDeliveries = overriding(store.notificationDeliveries, {
          leaseExpired(...given) {
            const left = store.notificationDeliveries.leaseExpired(...given);
            asked.push(left);
            return left;
          },
        });
        const { loop } = loopOf(channel, { outbox, notificationDeliveries });
        const first = loop.round();
        await full;
        if (when === "during") await leave();
        isFull = true;
        const second = loop.round();
        await spread.promise;
        await nextTurn();
        await Promise.all(asked);
        await nextTurn();
        open();
        await Promise.all([first, second]);
        await loop.round();
        expect(seen.most).toBe(16);
        const states = (await storedDeliveries(store)).map(({ state }) => state);
        expect(states).toEqual(Array(20).fill("delivered"));
      }),
  );

  it("the attempts of a round start for all its notifications, also for more than one batch", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 251);
      const log = recordedLog();
      const { loop, counted } = loopOf(
        logChannel(log, (payload) => payload),
        store,
      );
      await loop.round();
      expect(log.lines).toHaveLength(251);
      expect(counted).toEqual(Array(251).fill("log delivered"));
    }));

  it("attempts continue with the next round after the database was unavailable during one, which is logged", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      const away = new Error("the database is away");
      const delivered = Promise.withResolvers<void>();
      let asked = 0;
      const spread: Outbox["fanOut"] = (...given) => {
        asked += 1;
        return asked === 1 ? Promise.reject(away) : store.outbox.fanOut(...given);
      };
      const { loop, log } = loopOf(
        channelOf(async () => delivered.resolve()),
        { ...store, outbox: overriding(store.outbox, { fanOut: spread }) },
      );
      loop.start(1);
      await delivered.promise;
      await loop.stop();
      expect(log.lines[0]).toMatchObject({ level: "error", fields: { err: away, channel: "shop" } });
    }));

  it("a stopped outbox has ended its attempts, closed its channels and left no timer", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 1);
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
      const { channel, full, open } = crowded(1);
      const closed: string[] = [];
      const close = async () => void closed.push(...(await storedDeliveries(store)).map(({ state }) => state));
      const { loop } = loopOf({ ...channel, timeLimitMs: 1, close }, store);
      loop.start(1);
      await full;
      const before = timers();
      const stopped = loop.stop();
      open();
      await stopped;
      expect(closed).toEqual(["delivered"]);
      // The store's writer looks once more for tasks that are overdue.
      await until(() => timers() <= before);
    }));
});
