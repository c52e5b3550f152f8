import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { DIALECTS, databaseFile, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { walCommits } from "../support/wal-commits.ts";

const migrations = [EFFECTS];
const MEMBERS = 20;
const MIDDLE = 10;

type Run = (scope: OnceScope, eventId: string) => ReturnType<typeof addEffect>;

/** Deliveries of as many events at once; the one in the middle is another than the others. */
function together(store: Store, middle: Run): Promise<PromiseSettledResult<unknown>[]> {
  const runs = Array.from({ length: MEMBERS }, (_, number) => {
    const eventId = `e${number}`;
    const run = number === MIDDLE ? middle : addEffect;
    return runOnce(store, newRecord(eventId), (scope) => run(scope, eventId), committing());
  });
  return Promise.allSettled(runs);
}

const rejected = (ended: PromiseSettledResult<unknown>[]) =>
  ended.flatMap((one, number) => (one.status === "rejected" ? [number] : []));

describe.each(DIALECTS)("events that are handled at the same time on %s", (dialect) => {
  it("an event that fails does not affect the others", () =>
    withStore(
      dialect,
      async (store, target) => {
        const ended = await together(store, async (scope, eventId) => {
          await addEffect(scope, eventId);
          throw new Error("down");
        });
        expect(rejected(ended)).toEqual([MIDDLE]);
        expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
        expect(await countOf(target, "effects", `event_id = 'e${MIDDLE}'`)).toBe(0);
        expect(await countOf(target, "oncehook_records", "status = 'completed'")).toBe(MEMBERS - 1);
      },
      { migrations },
    ));

  it("an event whose statement fails and whose handler continues does not affect the others", () =>
    withStore(
      dialect,
      async (store, target) => {
        const ended = await together(store, async (scope) => {
          await sql.raw("INSERT INTO effects (event_id) VALUES (NULL)").execute(scope.tx.query);
          return { result: {} };
        });
        expect(rejected(ended)).toEqual([MIDDLE]);
        expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
      },
      { migrations },
    ));

  it("an event that breaks a constraint at COMMIT does not affect the others", () =>
    withStore(
      dialect,
      async (store, target) => {
        const ended = await together(store, async (scope, eventId) => {
          await scope.tx.query.insertInto("children").values({ parent_id: 404 }).execute();
          return addEffect(scope, eventId);
        });
        expect(rejected(ended)).toEqual([MIDDLE]);
        expect(ended[MIDDLE]).toMatchObject({ reason: { name: "StoreError", reason: "commit_failed" } });
        expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
        expect(await countOf(target, "children")).toBe(0);
      },
      { migrations },
    ));

  it("each event runs in its own asynchronous context", () =>
    withStore(
      dialect,
      async (store) => {
        const context = new AsyncLocalStorage<string>();
        const deliver = (eventId: string) =>
          runOnce(
            store,
            newRecord(eventId),
            async () => ({ result: { is: context.getStore() ?? null } }),
            committing(),
          );
        const ids = ["e0", "e1", "e2"];
        const endings = await Promise.all(ids.map((id) => context.run(id, () => deliver(id))));
        expect(endings).toMatchObject(ids.map((id) => ({ result: { is: id } })));
      },
      { migrations },
    ));

  it("an event that failed over writes that were rolled back in the end is run again", () =>
    withStore(
      dialect,
      async (store, target) => {
        const breaksAtCommit: Run = async (scope, eventId) => {
          await scope.tx.query.insertInto("children").values({ parent_id: 404 }).execute();
          return addEffect(scope, eventId);
        };
        const refusesTheSecond: Run = async (scope, eventId) => {
          const { rows } = await scope.tx.execute("SELECT event_id FROM effects");
          if (rows.length > 0) throw new Error("paid already");
          return addEffect(scope, eventId);
        };
        const [first, second] = await Promise.allSettled([
          runOnce(store, newRecord("e0"), (scope) => breaksAtCommit(scope, "e0"), committing()),
          runOnce(store, newRecord("e1"), (scope) => refusesTheSecond(scope, "e1"), committing()),
        ]);
        expect(first).toMatchObject({ status: "rejected", reason: { reason: "commit_failed" } });
        expect(second).toMatchObject({ status: "fulfilled", value: { kind: "completed" } });
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it("events wait for a slow one, and all are kept", () =>
    withStore(
      dialect,
      async (store, target) => {
        const ended = await together(store, async (scope, eventId) => {
          await sleep(50);
          return addEffect(scope, eventId);
        });
        expect(rejected(ended)).toEqual([]);
        expect(await countOf(target, "effects")).toBe(MEMBERS);
      },
      { migrations },
    ));

  it("late statements of an abandoned event do not touch the other events", () =>
    withStore(
      dialect,
      async (store, target) => {
        const late: Promise<unknown>[] = [];
        const ended = await together(store, async (scope, eventId) => {
          const write = sleep(20).then(() => addEffect(scope, eventId));
          late.push(expect(write).rejects.toThrow("the transaction has ended"));
          throw new Error("took too long");
        });
        expect(rejected(ended)).toEqual([MIDDLE]);
        await Promise.all(late);
        expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
      },
      { migrations },
    ));

  it("several deliveries of one event have one effect", () =>
    withStore(
      dialect,
      async (store, target) => {
        const runs = Array.from({ length: MEMBERS }, () =>
          runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing()),
        );
        const endings = (await Promise.all(runs)).map(({ kind }) => kind);
        expect(endings.filter((ending) => ending === "completed")).toHaveLength(1);
        expect(endings.filter((ending) => ending === "duplicate")).toHaveLength(MEMBERS - 1);
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it("a later delivery runs where an earlier one of the same moment failed", () =>
    withStore(
      dialect,
      async (store, target) => {
        const first = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            await addEffect(scope, "e1");
            throw new Error("down");
          },
          committing(),
        );
        const second = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        await expect(first).rejects.toThrow("down");
        expect((await second).kind).toBe("completed");
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));
});

describe("a group of events on sqlite", () => {
  it("a group has one commit", () =>
    withStore(
      "sqlite",
      async (store, target) => {
        const path = databaseFile(target);
        const before = walCommits(path);
        // A group also ends after 20 ms, which a machine with other work may take for this one.
        const time = vi.spyOn(performance, "now").mockReturnValue(performance.now());
        try {
          expect(rejected(await together(store, addEffect))).toEqual([]);
        } finally {
          time.mockRestore();
        }
        expect(walCommits(path) - before).toBe(1);
      },
      { migrations },
    ));

  it("a group ends after 20 ms, so that its first members do not wait for all later ones", () =>
    withStore(
      "sqlite",
      async (store, target) => {
        const path = databaseFile(target);
        const before = walCommits(path);
        await together(store, async (scope, eventId) => {
          await sleep(25);
          return addEffect(scope, eventId);
        });
        expect(walCommits(path) - before).toBeGreaterThan(1);
      },
      { migrations },
    ));

  it("a group includes the store's own statements, and none of them waits for another's flush", () =>
    withStore("sqlite", async ({ preparations }, target) => {
      const path = databaseFile(target);
      const before = walCommits(path);
      const lease = { owner: "a", now: new Date(), until: new Date(Date.now() + 60_000) };
      const claims = Array.from({ length: MEMBERS }, (_, number) =>
        preparations.claim({ source: "platform", eventId: `e${number}` }, lease),
      );
      expect((await Promise.all(claims)).map(({ state }) => state)).toEqual(Array(MEMBERS).fill("claimed"));
      expect(walCommits(path) - before).toBe(1);
    }));

  it("a group runs again, each event alone, where one of them made SQLite roll all of it back", () =>
    withStore(
      "sqlite",
      async (store, target) => {
        const trigger = "CREATE TRIGGER t BEFORE INSERT ON parents BEGIN SELECT RAISE(ROLLBACK, 'no'); END";
        await runOnce(
          store,
          newRecord("setup"),
          async ({ tx }) => {
            await sql.raw(trigger).execute(tx.query);
            return { result: {} };
          },
          committing(),
        );
        const ended = await together(store, async (scope, eventId) => {
          await sql.raw("INSERT INTO parents (id) VALUES (1)").execute(scope.tx.query);
          return addEffect(scope, eventId);
        });
        expect(rejected(ended)).toEqual([MIDDLE]);
        expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
      },
      { migrations },
    ));

  it.each(["RELEASE oncehook_member", "ROLLBACK TO OnceHook_Member", "SAVEPOINT oncehook_member"])(
    "a handler's %s does not touch its group",
    (statement) =>
      withStore(
        "sqlite",
        async (store, target) => {
          const ended = await together(store, async (scope, eventId) => {
            await addEffect(scope, eventId);
            await sql.raw(statement).execute(scope.tx.query);
            return { result: {} };
          });
          expect(rejected(ended)).toEqual([MIDDLE]);
          expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
        },
        { migrations },
      ),
  );
});
