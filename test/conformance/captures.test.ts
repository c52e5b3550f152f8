import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Captures, NewCapturedRequest } from "../../src/store/index.ts";
import { DIALECTS, fullOnPostgres, openTarget, withDatabase, withStore } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const ALL = { rows: 1_000, bytes: 1_000_000 };

function heard(requestId: string, seconds = 0, bytes = 10): NewCapturedRequest {
  return { requestId, receivedAt: at(seconds), encrypted: Buffer.alloc(bytes, requestId) };
}

const named = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `r${from + index}`);
const names = async (store: Captures, id = 0) => (await store.after(id, ALL)).map(({ requestId }) => requestId);

describe.each(DIALECTS)("what is kept for listeners on %s", (dialect) => {
  it("captured requests are returned in order, complete, after any id", () =>
    withStore(dialect, async ({ captures: store }) => {
      await store.append([heard("r1", 1), heard("r2", 2)]);
      await store.append([heard("r3", 3)]);
      const [first, ...others] = await store.after(0, ALL);
      expect(first).toMatchObject({ requestId: "r1", receivedAt: at(1).toISOString() });
      expect(Buffer.from(first?.encrypted ?? [])).toEqual(heard("r1").encrypted);
      expect(others.map(({ requestId }) => requestId)).toEqual(["r2", "r3"]);
      expect(await names(store, first?.id)).toEqual(["r2", "r3"]);
    }));

  it("captured requests are returned in bounded portions of at least one request", () =>
    withStore(dialect, async ({ captures: store }) => {
      await store.append(named(1, 5).map((name) => heard(name, 0, 100)));
      expect(await store.after(0, { rows: 2, bytes: 1_000_000 })).toHaveLength(2);
      expect(await store.after(0, { rows: 100, bytes: 350 })).toHaveLength(3);
      expect(await store.after(0, { rows: 100, bytes: 5 })).toHaveLength(1);
    }));

  it("a request that is appended again is not stored again", () =>
    withStore(dialect, async ({ captures: store }) => {
      await store.append([heard("r1"), heard("r2")]);
      await store.append([heard("r2"), heard("r3")]);
      expect(await names(store)).toEqual(["r1", "r2", "r3"]);
    }));

  it(
    "a captured request never appears behind a reader, though several processes write at the same time",
    { tags: "full" },
    () =>
      withDatabase(dialect, async (target) => {
        const stores = await Promise.all([1, 2, 3].map(async () => (await openTarget(target)).store));
        const [reader, ...writers] = stores;
        const seen: string[] = [];
        let id = 0;
        const read = async () => {
          for (const request of await reader!.captures.after(id, ALL)) {
            id = request.id;
            seen.push(request.requestId);
          }
        };
        const write = async (store: Captures, writer: string) => {
          for (let group = 0; group < 12; group += 1)
            await store.append(named(1, 15).map((name) => heard(`${writer}-${group}-${name}`)));
        };
        let isWriting = true;
        const written = Promise.all(
          writers.flatMap(({ captures: store }, writer) =>
            ["a", "b", "c"].map((hand) => write(store, `${writer}${hand}`)),
          ),
        ).finally(() => {
          isWriting = false;
        });
        while (isWriting) {
          await read();
          await nextTurn();
        }
        await written;
        await read();
        for (const store of stores) await store.close();
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toHaveLength(2 * 3 * 12 * 15);
      }),
  );

  it.each([
    ["in number", { rows: 3, bytes: 1_000_000, since: T0 }, 7],
    ["in bytes", { rows: 1_000, bytes: 400, since: T0 }, 6],
    ["by age", { rows: 1_000, bytes: 1_000_000, since: at(9) }, 8],
  ])("the store bounds captures %s and keeps the newest", (_title, limits, gone) =>
    withStore(dialect, async ({ captures: store }) => {
      await store.append(named(1, 10).map((name, index) => heard(name, index + 1, 100)));
      const [, , , , , , , last] = await store.after(0, ALL);
      expect(await store.sweep(limits)).toBe(gone);
      expect(await names(store)).toEqual(named(gone + 1, 10));
      const { deletedTo } = await store.extent();
      expect(deletedTo).toBe((last?.id ?? 0) - (8 - gone));
    }),
  );

  it("the retention job keeps the newest capture however old it is, so that no id is reused", () =>
    withStore(dialect, async ({ captures: store }) => {
      await store.append([heard("r1"), heard("r2")]);
      const { newestId } = await store.extent();
      expect(await store.sweep({ rows: 0, bytes: 0, since: at(100) })).toBe(1);
      await store.append([heard("r3")]);
      expect(await names(store, newestId)).toEqual(["r3"]);
    }));

  it("the retention job deletes many captures in steps", { tags: fullOnPostgres(dialect) }, () =>
    withStore(dialect, async ({ captures: store }, target) => {
      for (let from = 1; from <= 2_400; from += 200)
        await store.append(named(from, from + 199).map((name) => heard(name)));
      expect(await store.sweep({ ...ALL, rows: 50, since: T0 })).toBe(2_350);
      expect(await countOf(target, "oncehook_captured_requests")).toBe(50);
    }),
  );

  it("the store's name for its captures lasts until all of them are deleted", () =>
    withStore(dialect, async ({ captures: store }) => {
      const [one, other] = await Promise.all([store.extent(), store.extent()]);
      await store.append([heard("r0"), heard("r1")]);
      expect(await store.sweep({ rows: 1, bytes: 1_000, since: T0 })).toBe(1);
      expect([one.log, other.log]).toEqual([one.log, (await store.extent()).log]);
      expect(await store.clear()).toBe(1);
      expect(await names(store)).toEqual([]);
      const { log, deletedTo } = await store.extent();
      expect(log).not.toBe(one.log);
      expect(deletedTo).toBe(0);
    }));

  it("captures are found by the time at which they arrived", () =>
    withStore(dialect, async ({ captures: store }) => {
      await store.append(named(1, 5).map((name, index) => heard(name, index + 1)));
      expect(await names(store, await store.idBefore(at(3)))).toEqual(["r3", "r4", "r5"]);
      expect(await names(store, await store.idBefore(at(0)))).toHaveLength(5);
      expect(await names(store, await store.idBefore(at(9)))).toEqual([]);
    }));
});
