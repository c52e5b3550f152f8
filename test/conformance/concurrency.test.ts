import { describe, expect, it } from "vitest";
import { DIALECTS, openTarget, withDatabase, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { until } from "../support/until.ts";

const migrations = [EFFECTS];

describe.each(DIALECTS)("concurrent deliveries on %s", (dialect) => {
  it("one of 200 deliveries of an event is handled, over several connections of two processes' stores", () =>
    withDatabase(dialect, async (target) => {
      const stores = [await openTarget(target, { migrations }), await openTarget(target, { migrations })];
      const runs = Array.from({ length: 200 }, (_, index) =>
        runOnce(stores[index % 2]!.store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing(20_000)),
      );
      const endings = (await Promise.all(runs)).map(({ kind }) => kind);
      expect(endings.filter((ending) => ending === "completed")).toHaveLength(1);
      expect(endings.filter((ending) => ending === "duplicate")).toHaveLength(199);
      expect(await countOf(target, "effects")).toBe(1);
      for (const { store } of stores) await store.close();
    }));

  it("a duplicate waits for the delivery in flight, and is already processed after its commit", () =>
    withStore(
      dialect,
      async (store, target) => {
        const begun = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<void>();
        const first = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            begun.resolve();
            await gate.promise;
            return addEffect(scope, "e1");
          },
          committing(),
        );
        await begun.promise;
        const order: string[] = [];
        const second = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        void first.then(() => order.push("first"));
        void second.then(() => order.push("second"));
        gate.resolve();
        expect((await first).kind).toBe("completed");
        expect((await second).kind).toBe("duplicate");
        expect(order).toEqual(["first", "second"]);
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it("a waiting duplicate runs when the delivery in flight fails", () =>
    withStore(
      dialect,
      async (store, target) => {
        const begun = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<never>();
        const first = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            await addEffect(scope, "e1");
            begun.resolve();
            return gate.promise;
          },
          committing(),
        );
        const failed = expect(first).rejects.toThrow("down");
        await begun.promise;
        const second = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        gate.reject(new Error("down"));
        await failed;
        expect((await second).kind).toBe("completed");
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it("a duplicate that waits past its deadline is in progress, and nothing is written for it", () =>
    withStore(dialect, async (store, target) => {
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const first = runOnce(
        store,
        newRecord("e1"),
        async () => {
          begun.resolve();
          await gate.promise;
          return { result: {} };
        },
        committing(),
      );
      await begun.promise;
      const late = runOnce(store, newRecord("e1"), async () => ({ result: {} }), {
        deadline: within(150),
        mode: "commit",
      });
      await expect(late).rejects.toMatchObject({ name: "StoreError", reason: "in_progress" });
      gate.resolve();
      expect((await first).kind).toBe("completed");
      expect(await countOf(target, "oncehook_records")).toBe(1);
    }));
});

const WAITING_FOR_LOCKS =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

it(
  "a duplicate on postgres that waited long for a group waits for its event in a transaction of its own",
  { tags: "full" },
  () =>
    withStore("postgres", async (store, target) => {
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const handle = async () => {
        begun.resolve();
        await gate.promise;
        return { result: {} };
      };
      const first = runOnce(store, newRecord("e1"), handle, committing());
      await begun.promise;
      const second = runOnce(store, newRecord("e1"), handle, committing());
      await until(async () => (await rowsOf(target, WAITING_FOR_LOCKS)).length === 1).finally(gate.resolve);
      expect([(await first).kind, (await second).kind]).toEqual(["completed", "duplicate"]);
    }),
);

it("a redelivery on postgres of an event that was handled alone waits for nothing", () =>
  withStore("postgres", async (store) => {
    const deliver = async (id: string) =>
      (await runOnce(store, newRecord(id), async () => ({ result: {} }), committing())).kind;
    const ids = Array.from({ length: 8 }, (_, number) => `e${number}`);
    for (const id of ids) expect(await deliver(id)).toBe("completed");
    const begun = performance.now();
    for (const id of ids) expect(await deliver(id)).toBe("duplicate");
    // Who takes an event to be at work waits half a second for its end.
    expect(performance.now() - begun).toBeLessThan(3_500);
  }));
