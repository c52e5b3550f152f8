import { describe, expect, it } from "vitest";
import { z } from "zod";
import { failed } from "../../src/domain/index.ts";
import { createRegistry, defineHandler } from "../../src/handlers/index.ts";
import { storeFailure } from "../../src/pipeline/store-failure.ts";
import { createRetryPoller } from "../../src/retry/index.ts";
import type { Store } from "../../src/store/index.ts";
import { DatabaseErrorInHandler, StoreError } from "../../src/store/store-errors.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { retriesOf } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";
import { overriding } from "../support/overriding.ts";
import { recoveryAt } from "../support/recovery.ts";
import { completeElsewhere, failInline, inputOf, NO_RETRIES, rooms, T0, TIMING } from "../support/retry-rooms.ts";

describe.each(DIALECTS)("the retry loop on %s", (dialect) => {
  it("the retry loop runs a failure sixty seconds after it failed, not before", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      inner.time.seconds = 59;
      expect(await inner.loop().round()).toBe(0);
      inner.time.seconds = 60;
      expect(await inner.loop().round()).toBe(1);
      const [record] = await store.records.list({ limit: 1 }, {});
      expect(record?.result).toEqual({ attempt: "retry" });
    }));

  it("the retry loop retries three times, sixty seconds apart, and then no more", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 99 });
      await failInline(inner);
      const ran: number[] = [];
      for (let minute = 1; minute <= 6; minute += 1) {
        inner.time.seconds = minute * 60;
        ran.push(await inner.loop().round());
      }
      expect(ran).toEqual([1, 1, 1, 0, 0, 0]);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 1, rejected: 0 });
    }));

  it("the retry loop takes over from a process that ended in the middle, when its lease and the delay are over", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      inner.time.seconds = 60;
      const dead = { owner: "dead", now: new Date(T0 + 60_000), until: new Date(T0 + 90_000) };
      expect(await store.failureLeases.leaseDue(dead, retriesOf(10))).toHaveLength(1);
      inner.time.seconds = 89;
      expect(await inner.loop().round()).toBe(0);
      inner.time.seconds = 119;
      expect(await inner.loop().round()).toBe(0);
      inner.time.seconds = 120;
      expect(await inner.loop().round()).toBe(1);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 0, rejected: 0 });
    }));

  it("the retry loop runs what processes have left one by one, after the others, the one with the most process ends last", () =>
    withStore(dialect, async (store, target) => {
      const ran: string[] = [];
      let atOnce = 0;
      let most = 0;
      const inner = rooms(store, { times: 4 }, async (eventId) => {
        if (eventId !== "fresh") atOnce += 1;
        most = Math.max(most, atOnce);
        await new Promise((resolve) => setImmediate(resolve));
        ran.push(eventId);
        if (eventId !== "fresh") atOnce -= 1;
      });
      for (const id of ["worst", "e1", "e2", "fresh"]) await failInline(inner, id);
      await execute(target, "UPDATE oncehook_failures SET crashes = 1 WHERE event_id IN ('e1', 'e2')");
      await execute(target, "UPDATE oncehook_failures SET crashes = 2 WHERE event_id = 'worst'");
      inner.time.seconds = 60;
      expect(await inner.loop().round()).toBe(4);
      expect(most).toBe(1);
      expect(ran).toEqual(["fresh", "e1", "e2", "worst"]);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 0, rejected: 0 });
    }));

  it("the retry loop exhausts the event that ends its process each time, and none of those beside it", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 3 });
      for (const id of ["poison", "e1", "e2"]) await failInline(inner, id);
      // A process that ends is one that leases, and stores no outcome.
      const lease = () => {
        const now = inner.receiver.clock.now();
        return { owner: "ended", now, until: new Date(now.getTime() + TIMING.leaseMs) };
      };
      const ended: string[][] = [];
      const end = (leased: readonly { eventId: string }[]) => {
        ended.push(leased.map(({ eventId }) => eventId).sort());
        inner.time.seconds += 60;
      };
      inner.time.seconds = 60;
      end(await store.failureLeases.leaseDue(lease(), retriesOf(8)));
      const recover = () => store.failureLeases.recover(recoveryAt(lease().now, TIMING.leaseMs));
      await recover();
      for (;;) {
        const suspect = await store.failureLeases.leaseSuspect(lease());
        if (suspect === undefined) break;
        if (suspect.eventId === "poison") end([suspect]);
        else await store.failures.remove(suspect);
        await recover();
      }
      expect(ended).toEqual([["e1", "e2", "poison"], ["poison"], ["poison"]]);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 1, rejected: 0 });
    }));

  it("the retry loop finds out what became of a COMMIT whose answer was lost, also where RETRY_MAX is 0", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 1 }, undefined, NO_RETRIES);
      for (const id of ["e1", "e2"]) {
        await storeFailure(inputOf(id), failed("commit_unknown", new Error("the answer was lost")), inner.receiver);
      }
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 2, exhausted: 0, rejected: 0 });
      inner.time.seconds = 60;
      expect(await inner.loop().round()).toBe(2);
      // One is done now; the other has failed, and no further retry is allowed.
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 1, rejected: 0 });
      expect(await store.records.list({ limit: 9 }, {})).toHaveLength(1);
    }));

  it("the retry loop keeps an event whose COMMIT is unknown where the database cannot be asked about it either", () =>
    withStore(dialect, async (store) => {
      const find: Store["find"] = () => Promise.reject(new Error("the database is away"));
      const inner = rooms({ ...store, find }, { times: 0 });
      await storeFailure(inputOf("e1"), failed("commit_unknown", new Error("no answer")), inner.receiver);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 1, exhausted: 0, rejected: 0 });
    }));

  it("the retry loop looks a COMMIT up whose answer was lost, before it keeps anything of an event that is handled", () =>
    withStore(dialect, async (store) => {
      let kept = 0;
      const record: Store["failures"]["record"] = async (...given) => {
        kept += 1;
        await store.failures.record(...given);
      };
      const inner = rooms({ ...store, failures: overriding(store.failures, { record }) }, { times: 0 });
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      const unknown = failed("commit_unknown", new Error("no answer"));
      await storeFailure(inputOf("e1"), unknown, inner.receiver);
      expect(kept).toBe(0);
      await storeFailure(inputOf("e2"), unknown, inner.receiver);
      expect(kept).toBe(1);
    }));

  it("the retry loop counts a retry whose COMMIT did not happen although its answer was lost", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      const submit: Store["submit"] = (event) =>
        event.fail(new StoreError("commit_unknown", "the answer was lost", undefined));
      const lost = rooms({ ...store, submit }, { times: 0 });
      lost.time.seconds = 60;
      expect(await lost.loop().round()).toBe(1);
      expect(await store.failures.get(inputOf("e1").key)).toMatchObject({
        code: "commit_unknown",
        retriesDone: 1,
      });
    }));

  it("the retry loop keeps an event whose handler met a database fault, and none whose handler never began", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 0 });
      const keep = (eventId: string, cause: Error) => {
        const fault = new StoreError("unavailable", "the deadline has passed", cause);
        return storeFailure(inputOf(eventId), failed("store_unavailable", fault), inner.receiver);
      };
      await keep("began", new DatabaseErrorInHandler(new Error("lock timeout")));
      await keep("never began", new Error("connection refused"));
      const kept = [];
      for (const eventId of ["began", "never began"])
        kept.push(await store.failures.get({ source: "platform", eventId }));
      expect(kept).toMatchObject([{ code: "store_unavailable", state: "waiting" }, undefined]);
    }));

  it("the retry loop keeps a failure of which it cannot find out whether its COMMIT happened, at no cost", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      const away = rooms(
        {
          ...store,
          submit: (event) => event.fail(new StoreError("commit_unknown", "the answer was lost", undefined)),
          find: () => Promise.reject(new StoreError("unavailable", "the database is away", undefined)),
        },
        { times: 0 },
      );
      away.time.seconds = 60;
      expect(await away.loop().round()).toBe(1);
      expect(await store.failures.get(inputOf("e1").key)).toMatchObject({
        state: "waiting",
        retriesDone: 0,
        nextAttemptAt: new Date(T0 + 120_000).toISOString(),
        leasedUntil: null,
      });
    }));

  it("the poller removes a failure whose event another process completed, without running it", () =>
    withStore(dialect, async (store, target) => {
      const failing = { times: 1 };
      const inner = rooms(store, failing);
      await failInline(inner);
      await completeElsewhere(store, target);
      inner.time.seconds = 60;
      failing.times = 99;
      expect(await inner.loop().round()).toBe(1);
      expect(failing.times).toBe(99);
      expect(await store.attempts.list(inputOf("e1").key, { after: 0, limit: 9 })).toEqual([]);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 0, rejected: 0 });
    }));

  it("the retry loop waits at its end for the round under way", () =>
    withStore(dialect, async (store) => {
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const inner = rooms(store, { times: 1 }, async () => {
        begun.resolve();
        await gate.promise;
      });
      await failInline(inner);
      inner.time.seconds = 60;
      const loop = inner.loop();
      loop.start(1);
      await begun.promise;
      let stopped = false;
      const stopping = loop.stop().then(() => {
        stopped = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(stopped).toBe(false);
      gate.resolve();
      await stopping;
      expect(await store.records.list({ limit: 1 }, {})).toMatchObject([{ status: "completed" }]);
    }));

  it("the retry loop does not wait at its end for the prepare step of a process that has died", () =>
    withStore(dialect, async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      inner.time.seconds = 60;
      const dead = { owner: "dead", now: new Date(T0 + 60_000), until: new Date(T0 + 3_600_000) };
      await store.preparations.claim(inputOf("e1").key, dead);
      const asked = Promise.withResolvers<void>();
      const preparations = overriding(store.preparations, {
        claim(...args) {
          asked.resolve();
          return store.preparations.claim(...args);
        },
      });
      const { receiver } = inner;
      const { settings } = receiver;
      const loop = createRetryPoller({
        ...receiver,
        store: overriding(store, { preparations }),
        registry: createRegistry([], [PREPARING]),
        settings: { ...settings, retry: { ...settings.retry, timeLimitMs: 3_600_000 } },
      });
      loop.start(1);
      await asked.promise;
      await loop.stop();
      expect(await store.failures.list({ limit: 1 }, {})).toMatchObject([{ state: "waiting", retriesDone: 0 }]);
    }));
});

const PREPARING = defineHandler({
  type: "unreliable",
  data: z.object({}),
  prepare: async () => ({}),
  handle: async () => ({}),
});
