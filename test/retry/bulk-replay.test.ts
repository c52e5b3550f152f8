import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createBulkReplayPoller } from "../../src/retry/index.ts";
import { type Store, StoreError } from "../../src/store/index.ts";
import { type Target, withStore } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { retriesOf } from "../support/failure.ts";
import { overriding } from "../support/overriding.ts";
import { completeElsewhere, failInline, rooms, T0, TIMING, withLease } from "../support/retry-rooms.ts";
import { until } from "../support/until.ts";

type Rooms = ReturnType<typeof rooms>;

/** As many bulk replays of all failures as asked for, and how each of them ended. */
async function replayAll(store: Store, { receiver }: Rooms, count = 1) {
  const now = receiver.clock.now();
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const bulk = { filter: {}, perSecond: 100, createdBy: "token" };
    ids.push((await store.bulkReplays.create(bulk, now)).id);
  }
  const loop = createBulkReplayPoller(receiver);
  loop.start(1);
  const ended = async () => {
    const bulks = await Promise.all(ids.map((id) => store.bulkReplays.get(id)));
    return bulks.every((bulk) => bulk?.state === "done") ? bulks : undefined;
  };
  return {
    async done() {
      try {
        await until(async () => (await ended()) !== undefined);
        return await ended();
      } finally {
        await loop.stop();
      }
    },
  };
}

/** A store in which one part's operations are others. */
function withBulk(store: Store, over: (own: Store["bulkReplays"]) => Partial<Store["bulkReplays"]>): Store {
  return { ...store, bulkReplays: overriding(store.bulkReplays, over(store.bulkReplays)) };
}

/** Notes how many failures each batch had. */
const counting =
  (batches: number[]) =>
  (own: Store["bulkReplays"]): Partial<Store["bulkReplays"]> => ({
    async next(bulk, limit) {
      const due = await own.next(bulk, limit);
      batches.push(due.length);
      return due;
    },
  });

async function failedEvents(inner: Rooms, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `e${index + 1}`);
  for (const id of ids) await failInline(inner, id);
  return ids;
}

const onSqlite = (use: (store: Store, target: Target) => Promise<void>) => withStore("sqlite", use);

describe("the loop of bulk replays", () => {
  it("the loop works on four at a time, and on the fifth once one has ended", () =>
    onSqlite(async (store) => {
      const begun = new Set<number>();
      const free = Promise.withResolvers<void>();
      let leases = 0;
      const inner = rooms(
        withBulk(store, (own) => ({
          async lease(given) {
            leases += 1;
            return own.lease(given);
          },
          async next(bulk, limit) {
            begun.add(bulk.id);
            await free.promise;
            return own.next(bulk, limit);
          },
        })),
        { times: 0 },
      );
      const all = await replayAll(store, inner, 5);
      await until(() => begun.size === 4);
      expect([leases, begun.size]).toEqual([4, 4]);
      free.resolve();
      expect(await all.done()).toHaveLength(5);
    }));

  it("the loop goes on with a bulk replay that an error interrupted, and logs the error", () =>
    onSqlite(async (store) => {
      let looked = 0;
      const interrupted = withBulk(store, (own) => ({
        async next(bulk, limit) {
          looked += 1;
          if (looked === 1) throw new StoreError("unavailable", "the database is away", undefined);
          return own.next(bulk, limit);
        },
      }));
      const inner = rooms(interrupted, { times: 1 });
      await failInline(inner);
      expect(await (await replayAll(store, inner)).done()).toMatchObject([{ succeeded: 1 }]);
      expect(inner.lines.filter(({ level }) => level === 50)).toMatchObject([
        { bulk_replay: 1, msg: "a bulk replay was interrupted; it goes on soon" },
      ]);
    }));

  it("the loop stops when the replays at work have ended and are counted, and not before", () =>
    onSqlite(async (store) => {
      const atWork = Promise.withResolvers<void>();
      const mayEnd = Promise.withResolvers<void>();
      const inner = rooms(store, { times: 1 }, async () => {
        atWork.resolve();
        await mayEnd.promise;
      });
      await failInline(inner);
      const { id } = await store.bulkReplays.create({ filter: {}, perSecond: 100, createdBy: "token" }, new Date(T0));
      const loop = createBulkReplayPoller(inner.receiver);
      loop.start(1);
      await atWork.promise;
      let isStopped = false;
      const stopping = loop.stop().then(() => {
        isStopped = true;
      });
      // The next round, if one is under way, looks bulk replays up once more.
      await store.bulkReplays.get(id);
      await nextTurn();
      expect(isStopped).toBe(false);
      mayEnd.resolve();
      await stopping;
      expect(await store.bulkReplays.get(id)).toMatchObject({ state: "running", succeeded: 1 });
    }));

  it("a bulk replay runs at most eight replays at a time, whatever its rate", () =>
    onSqlite(async (store) => {
      const batches: number[] = [];
      const inner = rooms(withBulk(store, counting(batches)), { times: 9 });
      await failedEvents(inner, 9);
      expect(await (await replayAll(store, inner)).done()).toMatchObject([{ succeeded: 9 }]);
      expect(batches).toEqual([8, 1, 0]);
    }));

  it("a bulk replay looks up a failure that is being run elsewhere twice a second, and no more often", () =>
    onSqlite(async (store) => {
      const looked: number[] = [];
      const inner = rooms(
        withBulk(store, (own) => ({
          async next(bulk, limit) {
            looked.push(performance.now());
            if (looked.length === 2) await store.failureLeases.release(due, "another");
            return own.next(bulk, limit);
          },
        })),
        { times: 1 },
      );
      const due = { source: "platform", eventId: "e1" };
      await failInline(inner);
      const now = new Date(T0);
      await store.failureLeases.leaseOne(due, {
        owner: "another",
        now,
        until: new Date(T0 + 1_000),
        kind: "replay",
      });
      expect(await (await replayAll(store, inner)).done()).toMatchObject([{ succeeded: 1 }]);
      expect((looked[1] ?? 0) - (looked[0] ?? 0)).toBeGreaterThan(490);
    }));
});

describe("a bulk replay", () => {
  it("a bulk replay keeps its lease while it goes on, however long that takes", () =>
    onSqlite(async (store, target) => {
      const leases: unknown[] = [];
      const inner: Rooms = rooms(store, { times: 9 }, async () => {
        inner.time.seconds += 3;
        const [row] = await rowsOf(target, "SELECT leased_until FROM oncehook_bulk_replays");
        leases.push(row?.leased_until);
      });
      await failedEvents(inner, 9);
      expect(await (await replayAll(store, inner)).done()).toMatchObject([{ succeeded: 9 }]);
      // The ninth is of another batch, which began after the first had taken 24 seconds.
      expect([leases[0], leases[8]]).toEqual(
        [TIMING.leaseMs, 24_000 + TIMING.leaseMs].map((ms) => new Date(T0 + ms).toISOString()),
      );
    }));

  it("a bulk replay keeps its lease while a batch waits for longer than the lease", () =>
    onSqlite(async (store, target) => {
      const leaseMs = 200;
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      // A suspect that runs alone for twice as long, by the receiver's clock.
      const alone = inner.receiver.runLock.exclusive(async () => {
        for (const ms of [0, 150, 300, 450]) {
          inner.time.seconds = ms / 1_000;
          const renewed = new Date(T0 + ms + leaseMs).toISOString();
          await until(async () => {
            const [row] = await rowsOf(target, "SELECT leased_until FROM oncehook_bulk_replays");
            return row?.leased_until === renewed;
          }, 5_000);
        }
      });
      const all = await replayAll(store, { ...inner, receiver: withLease(inner.receiver, leaseMs) });
      await alone;
      expect(await all.done()).toMatchObject([{ succeeded: 1, alreadyHandled: 0 }]);
    }));

  it("a bulk replay runs failures whose process ended during their attempt after the others, one in a batch", () =>
    onSqlite(async (store) => {
      const ran: string[] = [];
      const batches: number[] = [];
      const inner = rooms(withBulk(store, counting(batches)), { times: 3 }, async (id) => void ran.push(id));
      await failedEvents(inner, 3);
      const dead = { owner: "dead", now: new Date(T0 + 60_000), until: new Date(T0 + 90_000) };
      expect(await store.failureLeases.leaseDue(dead, retriesOf(2))).toHaveLength(2);
      inner.time.seconds = 90;
      expect(await (await replayAll(store, inner)).done()).toMatchObject([{ succeeded: 3 }]);
      expect(ran).toEqual(["e3", "e1", "e2"]);
      expect(batches).toEqual([3, 1, 0]);
    }));

  it("a bulk replay counts an event that another process has completed as done before, when it comes to it", () =>
    onSqlite(async (store, target) => {
      let atItsEnd: unknown;
      const inner = rooms(
        withBulk(store, (own) => ({
          async finish(id, ...given) {
            atItsEnd = await own.get(id);
            return own.finish(id, ...given);
          },
        })),
        { times: 1 },
      );
      await failInline(inner);
      await completeElsewhere(store, target);
      const counts = { total: 1, succeeded: 0, alreadyHandled: 1, failed: 0 };
      expect(await (await replayAll(store, inner)).done()).toMatchObject([counts]);
      expect(atItsEnd).toMatchObject(counts);
    }));

  it.each([
    ["the failure could not be looked up", { get: true, once: false }],
    ["the database was away", { get: false, once: true }],
  ])("the loop tries a replay again where %s, and counts it once", (_title, faults) =>
    onSqlite(async (store) => {
      const fault = () => new StoreError("unavailable", "the database is away", undefined);
      const left = { ...faults };
      const get: Store["failures"]["get"] = async (key) => {
        if (left.get && key.eventId === "e1") {
          left.get = false;
          throw fault();
        }
        return store.failures.get(key);
      };
      const inner = rooms(store, { times: 2 });
      await failedEvents(inner, 2);
      const submit: Store["submit"] = (event) => {
        if (!left.once || event.record.eventId !== "e1") return store.submit(event);
        left.once = false;
        event.fail(fault());
      };
      const away = rooms({ ...store, submit, failures: overriding(store.failures, { get }) }, { times: 0 });
      expect(await (await replayAll(store, away)).done()).toMatchObject([{ succeeded: 2, failed: 0 }]);
      expect(away.lines.filter(({ level }) => level === 50)).toHaveLength(faults.get ? 1 : 0);
    }),
  );

  it("a bulk replay says in the log when it is done, with its counts", () =>
    onSqlite(async (store) => {
      const inner = rooms(store, { times: 3 });
      await failedEvents(inner, 2);
      await (await replayAll(store, inner)).done();
      expect(inner.lines.filter(({ msg }) => msg === "a bulk replay is done")).toMatchObject([
        { bulk_replay: 1, total: 2, succeeded: 1, already_handled: 0, failed: 1 },
      ]);
    }));
});
