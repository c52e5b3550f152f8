import { describe, expect, it } from "vitest";
import type { Receiver } from "../../src/pipeline/index.ts";
import { createBulkReplayPoller, createRetryPoller, discard, dryRunReplay, replay } from "../../src/retry/index.ts";
import type { Store } from "../../src/store/index.ts";
import { withStore } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { retriesOf } from "../support/failure.ts";
import { overriding } from "../support/overriding.ts";
import { recoveryAt } from "../support/recovery.ts";
import { failInline, inputOf, rooms, T0, TIMING, withLease } from "../support/retry-rooms.ts";

/** The rooms with a failed event that is leased from second 60 to 90 by a process that has ended. */
async function leasedByAnEndedProcess(store: Store) {
  const inner = rooms(store, { times: 1 });
  await failInline(inner);
  const dead = { owner: "dead", now: new Date(T0 + 60_000), until: new Date(T0 + 90_000) };
  expect(await store.failureLeases.leaseDue(dead, retriesOf(1))).toHaveLength(1);
  return inner;
}

describe("a failure whose process ended during its attempt", () => {
  const again: [string, (receiver: Receiver) => Promise<unknown>][] = [
    ["a retry", (receiver) => createRetryPoller(receiver).round()],
    ["a replay", (receiver) => replay(inputOf("e1").key, receiver)],
    ["a dry run", (receiver) => dryRunReplay(inputOf("e1").key, receiver)],
  ];

  it.each(again)("a suspect waits as %s for the runs under way, which it could take with it", (_, run) =>
    withStore("sqlite", async (store, target) => {
      const order: string[] = [];
      const gate = Promise.withResolvers<void>();
      const inner = rooms(store, { times: 1 }, async (eventId) => {
        order.push(eventId);
        gate.resolve();
      });
      await failInline(inner);
      await execute(target, "UPDATE oncehook_failures SET crashes = 1");
      inner.time.seconds = 60;
      const { runLock } = inner.receiver;
      // The other run ends once this one waits, or has run.
      const alone: typeof runLock.exclusive = (work) => {
        const waiting = runLock.exclusive(work);
        gate.resolve();
        return waiting;
      };
      const other = runLock.shared(async () => {
        await gate.promise;
        order.push("another run has ended");
      });
      await run({ ...inner.receiver, runLock: { ...runLock, exclusive: alone } });
      await other;
      expect(order).toEqual(["another run has ended", "e1"]);
    }),
  );

  it("an abandoned failure can be discarded once its lease is over, although no other process has seen it", () =>
    withStore("sqlite", async (store) => {
      const inner = await leasedByAnEndedProcess(store);
      inner.time.seconds = 89;
      expect(await discard(inputOf("e1").key, inner.receiver)).toBe("leased");
      inner.time.seconds = 90;
      expect(await discard(inputOf("e1").key, inner.receiver)).toBe("discarded");
    }));

  it("an abandoned failure can be replayed once its lease is over, although no other process has seen it", () =>
    withStore("sqlite", async (store) => {
      const inner = await leasedByAnEndedProcess(store);
      inner.time.seconds = 89;
      expect(await replay(inputOf("e1").key, inner.receiver)).toBe("leased");
      inner.time.seconds = 90;
      expect(await replay(inputOf("e1").key, inner.receiver)).toMatchObject({ kind: "success" });
    }));

  it.each([
    ["replay", 0, false, undefined],
    ["replay", 1, true, undefined],
    ["bulk", 0, false, 1],
  ])("an abandoned failure shows the kind of its attempt, and whether that ran alone: %s after %i ends", (...given) =>
    withStore("sqlite", async (store, target) => {
      const [kind, crashes, isAlone, bulkReplayId] = given;
      // A process that ends is one that leases, and stores no outcome.
      const leaseOne: typeof store.failureLeases.leaseOne = async (...lease) => {
        await store.failureLeases.leaseOne(...lease);
        return "leased";
      };
      const inner = rooms({ ...store, failureLeases: overriding(store.failureLeases, { leaseOne }) }, { times: 1 });
      await failInline(inner);
      await execute(target, `UPDATE oncehook_failures SET crashes = ${crashes}`);
      await store.bulkReplays.create({ filter: {}, perSecond: 10, createdBy: "token" }, inner.receiver.clock.now());
      await replay(inputOf("e1").key, inner.receiver, bulkReplayId);
      const later = new Date(T0 + TIMING.leaseMs);
      const recovery = recoveryAt(later, TIMING.leaseMs);
      expect(await store.failureLeases.recover(recovery)).toMatchObject([{ kind, isAlone }]);
    }),
  );
});

describe("the loop of bulk replays", () => {
  it("the loop waits at its end until it has given back what it works on", () =>
    withStore("sqlite", async (store) => {
      const order: string[] = [];
      const releasing = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const release: typeof store.bulkReplays.release = async (...given) => {
        releasing.resolve();
        await gate.promise;
        await store.bulkReplays.release(...given);
        order.push("released");
      };
      const inner = rooms({ ...store, bulkReplays: overriding(store.bulkReplays, { release }) }, { times: 0 });
      await store.bulkReplays.create({ filter: {}, perSecond: 10, createdBy: "token" }, inner.receiver.clock.now());
      const loop = createBulkReplayPoller(inner.receiver);
      loop.start(1);
      await releasing.promise;
      const stopping = loop.stop().then(() => order.push("stopped"));
      // The round itself has nothing left to do.
      await store.ping();
      await new Promise((resolve) => setImmediate(resolve));
      gate.resolve();
      await stopping;
      expect(order).toEqual(["released", "stopped"]);
    }));
});

describe("the end of an attempt that cannot be stored", () => {
  /** From now on a failure can be leased, and no lease can end. */
  const KEPT_LEASES = `CREATE TRIGGER kept_leases BEFORE UPDATE ON oncehook_failures WHEN NEW.lease_owner IS NULL
    BEGIN SELECT RAISE(ABORT, 'no lease ends'); END`;

  it("a replay tries once to store the end of its attempt, and reports the error", { timeout: 10_000 }, () =>
    withStore("sqlite", async (store, target) => {
      const inner = rooms(store, { times: 2 });
      await failInline(inner);
      await execute(target, KEPT_LEASES);
      await expect(replay(inputOf("e1").key, inner.receiver)).rejects.toThrow("no lease ends");
    }),
  );

  it("a stop ends the retries to store the end of an attempt", { timeout: 10_000 }, () =>
    withStore("sqlite", async (store, target) => {
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const inner = rooms(store, { times: 2 }, async () => {
        begun.resolve();
        await gate.promise;
      });
      await failInline(inner);
      await execute(target, KEPT_LEASES);
      inner.time.seconds = 60;
      const loop = createRetryPoller(withLease(inner.receiver, 600_000));
      loop.start(1);
      await begun.promise;
      const stopping = loop.stop();
      gate.resolve();
      await stopping;
      expect((await store.failures.get(inputOf("e1").key))?.leasedUntil).not.toBeNull();
    }),
  );
});
