import { describe, expect, it } from "vitest";
import type { Completion, EventReplay, OnceScope, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const KEY = { source: "platform", eventId: "e1" };
const OPTIONS = { migrations: [EFFECTS] };
const replayOf = (replay: string): EventReplay => ({ replay, actor: "token", reason: "the tax was wrong" });
type Run = (scope: OnceScope) => Promise<Completion>;

const returning =
  (result: Completion["result"]): Run =>
  async (scope) => ({ ...(await addEffect(scope, "e1")), result });

const handle = (store: Store, run: Run) => runOnce(store, newRecord("e1"), run, committing());
const again = (store: Store, replay: string, run: Run, mode: "commit" | "dry-run" = "commit") =>
  runOnce(store, newRecord("e1"), run, { ...committing(), mode, replaces: replayOf(replay) });
const resultOf = async (store: Store) => (await store.find(KEY, within(5_000)))?.result;

describe.each(DIALECTS)("replays of handled events on %s", (dialect) => {
  it("a replay replaces the result of the record in the handler's transaction, and keeps the earlier one", () =>
    withStore(
      dialect,
      async (store, target) => {
        await handle(store, returning({ tax: 1 }));
        const before = await store.find(KEY, within(5_000));
        expect(await again(store, "r1", returning({ tax: 2 }))).toEqual({ kind: "completed", result: { tax: 2 } });
        const after = await store.find(KEY, within(5_000));
        expect(after).toMatchObject({ id: before?.id, result: { tax: 2 }, createdAt: before?.createdAt });
        expect(await store.eventReplays.list(KEY, 9)).toMatchObject([
          { ...replayOf("r1"), earlierResult: { tax: 1 }, earlierProcessedAt: before?.processedAt },
        ]);
        expect(await countOf(target, "effects")).toBe(2);
      },
      OPTIONS,
    ));

  it("one replay runs an event once, however often it is asked for", () =>
    withStore(
      dialect,
      async (store, target) => {
        await handle(store, returning({ n: 1 }));
        await again(store, "r1", returning({ n: 2 }));
        expect(await again(store, "r1", returning({ n: 3 }))).toMatchObject({
          kind: "duplicate",
          record: { result: { n: 2 } },
        });
        expect(await store.eventReplays.find(KEY, "r1")).toMatchObject({ earlierResult: { n: 1 } });
        expect(await store.eventReplays.find(KEY, "r2")).toBeUndefined();
        await again(store, "r2", returning({ n: 4 }));
        expect((await store.eventReplays.list(KEY, 9)).map(({ earlierResult }) => earlierResult)).toEqual([
          { n: 1 },
          { n: 2 },
        ]);
        expect(await countOf(target, "effects")).toBe(3);
      },
      OPTIONS,
    ));

  it("a replay whose handler fails leaves the earlier result and nothing of its own", () =>
    withStore(
      dialect,
      async (store, target) => {
        await handle(store, returning({ n: 1 }));
        const failing: Run = async (scope) => {
          await addEffect(scope, "e1");
          await scope.enqueue({ topic: "told", payload: {} });
          throw new Error("still broken");
        };
        await expect(again(store, "r1", failing)).rejects.toThrow("still broken");
        expect(await resultOf(store)).toEqual({ n: 1 });
        for (const table of ["oncehook_event_replays", "oncehook_notifications", "oncehook_failures"])
          expect([table, await countOf(target, table)]).toEqual([table, 0]);
        expect(await countOf(target, "effects")).toBe(1);
        await again(store, "r1", returning({ n: 2 }));
        expect(await resultOf(store)).toEqual({ n: 2 });
      },
      OPTIONS,
    ));

  it("the dry run of a handled event runs the handler and changes nothing", () =>
    withStore(
      dialect,
      async (store, target) => {
        await handle(store, returning({ n: 1 }));
        expect(await again(store, "dry-run", returning({ n: 2 }), "dry-run")).toEqual({
          kind: "dry-run",
          result: { n: 2 },
        });
        expect(await resultOf(store)).toEqual({ n: 1 });
        expect(await countOf(target, "oncehook_event_replays")).toBe(0);
        expect(await countOf(target, "effects")).toBe(1);
      },
      OPTIONS,
    ));

  it("no notification of a replay has the key of an earlier one, and all of them are found by their event", () =>
    withStore(dialect, async (store) => {
      const telling: Run = async ({ enqueue }) => {
        await enqueue({ topic: "first", payload: {} });
        await enqueue({ topic: "second", payload: {} });
        return { result: {} };
      };
      await handle(store, telling);
      await again(store, "r1", telling);
      const record = await store.find(KEY, within(5_000));
      if (record === undefined) throw new TypeError("the event was handled");
      const replays = await store.eventReplays.list(KEY, 9);
      const found = await store.notifications.ofEvent(record, 9, replays);
      expect(found.map(({ topic }) => topic)).toEqual(["first", "second", "first", "second"]);
      const keys = found.map(({ idempotencyKey }) => idempotencyKey);
      expect(keys).toEqual([
        "platform/e1/1",
        "platform/e1/2",
        expect.stringMatching(/^platform\/e1\/1~\d+$/),
        expect.stringMatching(/^platform\/e1\/2~\d+$/),
      ]);
    }));

  it("a duplicate gets the earlier result while a replay is at work, and the new one afterwards", () =>
    withStore(
      dialect,
      async (store) => {
        await handle(store, returning({ n: 1 }));
        const seen: unknown[] = [];
        await again(store, "r1", async (scope) => {
          seen.push(await resultOf(store));
          return returning({ n: 2 })(scope);
        });
        seen.push(await resultOf(store));
        expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
        expect(await handle(store, returning({ n: 3 }))).toMatchObject({
          kind: "duplicate",
          record: { result: { n: 2 } },
        });
      },
      OPTIONS,
    ));

  it("replays of one event at the same time run one after the other", () =>
    withStore(
      dialect,
      async (store, target) => {
        await handle(store, returning({ n: 0 }));
        const names = ["r1", "r2", "r3", "r4"];
        await Promise.all(names.map((name, index) => again(store, name, returning({ n: index + 1 }))));
        const replays = await store.eventReplays.list(KEY, 9);
        const results = replays.map(({ earlierResult }) => Number(earlierResult.n));
        // Each has replaced the result of the one before it.
        expect(new Set([...results, Number((await resultOf(store))?.n)])).toEqual(new Set([0, 1, 2, 3, 4]));
        expect(await countOf(target, "effects")).toBe(5);
      },
      OPTIONS,
    ));

  it("an event without a record is not run", () =>
    withStore(
      dialect,
      async (store, target) => {
        await expect(again(store, "r1", returning({}))).rejects.toThrow("is not completed");
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      OPTIONS,
    ));

  it("a replay deletes the result of its prepare step, and none of another", () =>
    withStore(dialect, async (store, target) => {
      await handle(store, async () => ({ result: {} }));
      const lease = { owner: "me", now: new Date(), until: new Date(Date.now() + 60_000) };
      for (const eventId of ["replay r1 of e1", "replay r2 of e1"])
        expect(await store.preparations.claim({ ...KEY, eventId }, lease)).toEqual({ state: "claimed" });
      await again(store, "r1", async () => ({ result: {} }));
      const left = await rowsOf(target, "SELECT event_id FROM oncehook_preparations");
      expect(left).toEqual([{ event_id: "replay r2 of e1" }]);
    }));

  it("retention deletes an earlier result once its record is past its time", () =>
    withStore(dialect, async (store, target) => {
      await handle(store, async () => ({ result: {} }));
      for (const name of ["r1", "r2"]) await again(store, name, async () => ({ result: {} }));
      const later = new Date(Date.now() + 86_400_000);
      const limits = { callbacks: later, refusedRowsKept: 0, now: later };
      await store.retention.sweep(limits);
      expect(await countOf(target, "oncehook_event_replays")).toBe(2);
      await store.retention.sweep({ ...limits, records: later });
      // The newest row keeps its id from being given again.
      expect(await countOf(target, "oncehook_event_replays")).toBe(1);
    }));

  it("retention keeps an earlier result for as long as its record, which stays without a signed time", () =>
    withStore(dialect, async (store, target) => {
      await handle(store, async () => ({ result: {} }));
      for (const name of ["r1", "r2"]) await again(store, name, async () => ({ result: {} }));
      const later = new Date(Date.now() + 86_400_000);
      const limits = { callbacks: later, records: later, refusedRowsKept: 0, now: later };
      await store.retention.sweep({ ...limits, untimedSources: ["oauth", "platform"] });
      expect(await countOf(target, "oncehook_records")).toBe(1);
      expect(await countOf(target, "oncehook_event_replays")).toBe(2);
    }));

  it("an erasure removes a value from earlier results", () =>
    withStore(dialect, async (store) => {
      await handle(store, async () => ({ result: { customer: "cus_1", n: 1 } }));
      await again(store, "r1", async () => ({ result: { n: 2 } }));
      await store.erasure.eraseTraces(KEY, "cus_1");
      expect(await store.eventReplays.list(KEY, 9)).toMatchObject([{ earlierResult: { customer: "[erased]", n: 1 } }]);
    }));
});
