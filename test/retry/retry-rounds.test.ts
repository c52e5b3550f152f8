import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { refused } from "../../src/domain/index.ts";
import { Rejected } from "../../src/index.ts";
import { failureContext } from "../../src/pipeline/index.ts";
import { createRetryPoller, replay } from "../../src/retry/index.ts";
import { type Store, StoreError } from "../../src/store/index.ts";
import { withStore } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { newFailure, retriesOf } from "../support/failure.ts";
import { overriding } from "../support/overriding.ts";
import { failInline, inputOf, rooms, T0, withLease } from "../support/retry-rooms.ts";

const away = () => new StoreError("unavailable", "the database is away", undefined);
const historyOf = (store: Store, eventId = "e1") => store.attempts.list(inputOf(eventId).key, { after: 0, limit: 9 });

/** A store whose failures' leases have other operations. */
const withLeases = (store: Store, over: Partial<Store["failureLeases"]>): Store => ({
  ...store,
  failureLeases: overriding(store.failureLeases, over),
});

describe("a round of retries", () => {
  it("a round runs eight failures at a time, until it has run all that are due", () =>
    withStore("sqlite", async (store) => {
      const seen = { now: 0, most: 0 };
      const inner = rooms(store, { times: 9 }, async () => {
        seen.now += 1;
        seen.most = Math.max(seen.most, seen.now);
        await sleep(5);
        seen.now -= 1;
      });
      for (let index = 0; index < 9; index += 1) await failInline(inner, `e${index}`);
      inner.time.seconds = 60;
      const loop = inner.loop();
      expect([await loop.round(), await loop.round()]).toEqual([9, 0]);
      expect(seen.most).toBeLessThanOrEqual(8);
    }));

  it("failures that cannot run delay a later failure by no more than one round", () =>
    withStore("sqlite", async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      const { encryptor } = inner.receiver;
      const stuck = Array.from({ length: 100 }, (_, index) => {
        const key = { source: "platform", eventId: `stuck-${index}` };
        const encryptedBody = encryptor.encrypt(inputOf(key.eventId).content.body, failureContext(key));
        return newFailure(key, new Date(T0), { eventType: "no_handler", encryptedBody });
      });
      await Promise.all(stuck.map((failure) => store.failures.record(failure, new Date(T0))));
      inner.time.seconds = 60;
      expect(await inner.loop().round()).toBe(101);
      expect(await store.failures.get(inputOf("e1").key)).toBeUndefined();
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 100, exhausted: 0, rejected: 0 });
    }));

  it("a round leases no further failures when the process stops", () =>
    withStore("sqlite", async (store) => {
      const inner = rooms(store, { times: 9 }, async () => void loop.stop());
      for (let index = 0; index < 9; index += 1) await failInline(inner, `e${index}`);
      inner.time.seconds = 60;
      const loop = inner.loop();
      expect(await loop.round()).toBe(8);
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 1, exhausted: 0, rejected: 0 });
    }));

  it("a round starts no other suspect when the process stops", () =>
    withStore("sqlite", async (store, target) => {
      const ran: string[] = [];
      const inner = rooms(store, { times: 2 }, async (eventId) => {
        ran.push(eventId);
        void loop.stop();
      });
      for (const id of ["e1", "e2"]) await failInline(inner, id);
      await execute(target, "UPDATE oncehook_failures SET crashes = 1");
      inner.time.seconds = 60;
      const loop = inner.loop();
      expect(await loop.round()).toBe(1);
      expect(ran).toEqual(["e1"]);
    }));

  it("the round holds up a suspect's replay, which could take it with it, until it has ended", () =>
    withStore("sqlite", async (store, target) => {
      const order: string[] = [];
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const inner = rooms(store, { times: 2 }, async (eventId) => {
        if (eventId === "e1") {
          begun.resolve();
          await gate.promise;
        }
        order.push(eventId);
      });
      for (const id of ["e1", "suspect"]) await failInline(inner, id);
      await execute(
        target,
        "UPDATE oncehook_failures SET crashes = 1, next_attempt_at = NULL, state = 'exhausted' WHERE event_id = 'suspect'",
      );
      inner.time.seconds = 60;
      const round = inner.loop().round();
      await begun.promise;
      const { runLock } = inner.receiver;
      const waits = Promise.withResolvers<void>();
      const exclusive: typeof runLock.exclusive = (work) => {
        const run = runLock.exclusive(async () => {
          order.push("the suspect's turn");
          return work();
        });
        waits.resolve();
        return run;
      };
      const receiver = { ...inner.receiver, runLock: { ...runLock, exclusive } };
      const replayed = replay(inputOf("suspect").key, receiver);
      await waits.promise;
      await new Promise((resolve) => setImmediate(resolve));
      gate.resolve();
      await Promise.all([round, replayed]);
      expect(order).toEqual(["e1", "the suspect's turn", "suspect"]);
    }));

  it("storing the outcome of a retry is tried again while its lease lasts", () =>
    withStore("sqlite", async (store) => {
      let offered = 0;
      const reschedule: Store["failureLeases"]["reschedule"] = async (...given) => {
        offered += 1;
        if (offered === 1) throw away();
        return store.failureLeases.reschedule(...given);
      };
      const inner = rooms(withLeases(store, { reschedule }), { times: 2 });
      await failInline(inner);
      inner.time.seconds = 60;
      expect(await inner.loop().round()).toBe(1);
      expect(offered).toBe(2);
      expect(await store.failures.get(inputOf("e1").key)).toMatchObject({
        retriesDone: 1,
        leasedUntil: null,
      });
    }));

  it("the round goes on with the others where the end of a retry cannot be stored, and logs which one it was", () =>
    withStore("sqlite", async (store) => {
      const reschedule: Store["failureLeases"]["reschedule"] = async (key, ...given) => {
        if (key.eventId === "e1") throw away();
        return store.failureLeases.reschedule(key, ...given);
      };
      const inner = rooms(withLeases(store, { reschedule }), { times: 99 });
      for (const id of ["e1", "e2"]) await failInline(inner, id);
      inner.time.seconds = 60;
      // A lease so short that the end is offered once.
      const loop = createRetryPoller(withLease(inner.receiver, 100));
      expect(await loop.round()).toBe(2);
      expect((await store.failures.get(inputOf("e2").key))?.leasedUntil).toBeNull();
      expect(inner.lines.filter(({ level }) => level === 50)).toMatchObject([
        { event_id: "e1", msg: expect.stringContaining("how the retry ended could not be stored") },
      ]);
    }));

  it("the round logs how each retry ended", () =>
    withStore("sqlite", async (store) => {
      const inner = rooms(store, { times: 4 }, async (eventId) => {
        if (eventId === "rejected") throw new Rejected("no such order");
      });
      for (const id of ["failed", "rejected", "handled"]) await failInline(inner, id);
      inner.time.seconds = 60;
      await inner.loop().round();
      const lines = inner.lines.map(({ level, event_id, msg }) => `${level} ${event_id}: ${msg}`);
      expect(lines.toSorted()).toEqual([
        "30 handled: retry ended",
        "40 failed: retry failed",
        "40 rejected: retry was rejected",
      ]);
    }));

  it("the round logs which attempts were cut off by the end of their process", () =>
    withStore("sqlite", async (store) => {
      const inner = rooms(store, { times: 1 });
      await failInline(inner);
      const dead = { owner: "dead", now: new Date(T0 + 60_000), until: new Date(T0 + 90_000) };
      await store.failureLeases.leaseDue(dead, retriesOf(1));
      inner.time.seconds = 90;
      await inner.loop().round();
      expect(inner.lines).toMatchObject([
        { level: 40, event_id: "e1", kind: "retry", alone: false, state: "waiting", process_ends: 1 },
      ]);
    }));
});

describe("a replay", () => {
  it("a replay that fails leaves the schedule of the retries unchanged", () =>
    withStore("sqlite", async (store) => {
      const inner = rooms(store, { times: 2 });
      await failInline(inner);
      inner.time.seconds = 30;
      expect(await replay(inputOf("e1").key, inner.receiver)).toMatchObject({ kind: "failed" });
      expect(await store.failures.get(inputOf("e1").key)).toMatchObject({
        state: "waiting",
        attempts: 2,
        retriesDone: 0,
        nextAttemptAt: new Date(T0 + 60_000).toISOString(),
      });
    }));

  it("a replay holds up the deliveries of its event in this process", () =>
    withStore("sqlite", async (store) => {
      const order: string[] = [];
      const { key, deadline } = inputOf("e1");
      const inner: ReturnType<typeof rooms> = rooms(store, { times: 1 }, async () => {
        order.push("the replay runs");
        delivered = inner.receiver.eventLock.run(key, deadline, async () => {
          order.push("the delivery runs");
          return refused("rejected");
        });
        await nextTurn();
        order.push("the replay ends");
      });
      let delivered: Promise<unknown> | undefined;
      await failInline(inner);
      await replay(key, inner.receiver);
      await delivered;
      expect(order).toEqual(["the replay runs", "the replay ends", "the delivery runs"]);
    }));
});

describe("the stored body of an event", () => {
  it("a failure with another event's stored body is not handled", () =>
    withStore("sqlite", async (store, target) => {
      const inner = rooms(store, { times: 2 });
      for (const id of ["e1", "e2"]) await failInline(inner, id);
      await execute(
        target,
        "UPDATE oncehook_failures SET encrypted_body = (SELECT encrypted_body FROM oncehook_failures WHERE event_id = 'e2')",
      );
      expect(await replay(inputOf("e1").key, inner.receiver)).toMatchObject({ code: "internal" });
      expect(await store.records.list({ limit: 9 }, {})).toEqual([]);
    }));
});

describe("the history of a retried event", () => {
  it("the history says when an attempt began, and for how many milliseconds it ran", () =>
    withStore("sqlite", async (store) => {
      const inner: ReturnType<typeof rooms> = rooms(store, { times: 1 }, async () => {
        await sleep(20);
        inner.time.seconds = 75;
      });
      await failInline(inner);
      inner.time.seconds = 60;
      await inner.loop().round();
      const [attempt] = await historyOf(store);
      expect(attempt?.startedAt).toBe(new Date(T0 + 60_000).toISOString());
      expect(attempt?.durationMs).toBeGreaterThan(15);
      expect(attempt?.durationMs).toBeLessThan(5_000);
    }));

  it("the history lacks an attempt that could not be stored, and the event is processed all the same", () =>
    withStore("sqlite", async (store) => {
      const append = () => Promise.reject(away());
      const inner = rooms({ ...store, attempts: overriding(store.attempts, { append }) }, { times: 1 });
      await failInline(inner);
      expect(await replay(inputOf("e1").key, inner.receiver)).toMatchObject({ kind: "success" });
      expect(await store.failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 0, rejected: 0 });
      expect(inner.lines).toMatchObject([
        { level: 40, event_id: "e1", msg: expect.stringContaining("the timeline of its event lacks it") },
      ]);
    }));

  it("the history of a rejected retry has its reason", () =>
    withStore("sqlite", async (store) => {
      const inner = rooms(store, { times: 1 }, () => Promise.reject(new Rejected("the order was cancelled")));
      await failInline(inner);
      await replay(inputOf("e1").key, inner.receiver);
      expect(await historyOf(store)).toMatchObject([
        { trigger: "replay", outcome: "rejected", error: expect.stringContaining("the order was cancelled") },
      ]);
    }));
});
