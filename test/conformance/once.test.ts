import { describe, expect, it } from "vitest";
import { type Migration, type OnceScope, sql } from "../../src/store/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf, within } from "../support/effects.ts";
import { listCallbacks } from "../support/list-callbacks.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const migrations: Migration[] = [EFFECTS];

describe.each(DIALECTS)("once on %s", (dialect) => {
  it("once commits record, effects, notification and log row together", () =>
    withStore(
      dialect,
      async (store, target) => {
        const ending = await runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            await addEffect(scope, "e1");
            await scope.enqueue({ topic: "order.paid", payload: { n: 1 } });
            await scope.enqueue({ topic: "order.paid", payload: { n: 2 } });
            return { result: { ok: true }, logEntry: logRow({ eventId: "e1" }) };
          },
          committing(),
        );
        expect(ending).toEqual({ kind: "completed", result: { ok: true } });
        expect(await countOf(target, "effects")).toBe(1);
        const notifications = await rowsOf(target, "SELECT * FROM oncehook_notifications ORDER BY id");
        expect(notifications.map((row) => [row.event_id, row.position])).toEqual([
          ["e1", 1],
          ["e1", 2],
        ]);
        const [callback] = await listCallbacks(store, { limit: 10 }, { eventId: "e1" });
        expect(callback).toMatchObject(logRow({ eventId: "e1" }));
      },
      { migrations },
    ));

  it.each<[string, (scope: OnceScope, statement: string) => unknown]>([
    ["tx.execute", ({ tx }, statement) => tx.execute(statement)],
    [
      "tx.connection",
      ({ tx }, statement) => (tx.dialect === "sqlite" ? tx.connection.exec(statement) : tx.connection.query(statement)),
    ],
  ])("a notification is undone where the handler rolls back to a savepoint by %s", (_way, run) =>
    withStore(dialect, async (store, target) => {
      const handle = async (scope: OnceScope) => {
        const notify = (topic: string) => scope.enqueue({ topic, payload: {} });
        await notify("before");
        await run(scope, "SAVEPOINT part");
        await notify("undone");
        await run(scope, "ROLLBACK TO part");
        await notify("after");
        return { result: {} };
      };
      await runOnce(store, newRecord("e1"), handle, committing());
      const kept = await rowsOf(target, "SELECT topic FROM oncehook_notifications ORDER BY position");
      expect(kept.map(({ topic }) => topic)).toEqual(["before", "after"]);
    }),
  );

  it("a record has what SPEC 2.4 requires", () =>
    withStore(dialect, async (store) => {
      const clock = new Date().toISOString();
      await runOnce(store, newRecord("e1"), async () => ({ result: { order_id: "o1" } }), committing());
      const record = await store.find({ source: "platform", eventId: "e1" }, within(1_000));
      expect(record).toMatchObject({ ...newRecord("e1"), status: "completed", result: { order_id: "o1" } });
      expect(record?.processedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(record?.processedAt && record.processedAt >= clock).toBe(true);
    }));

  it("a record has the arrival time and the handler's end time, by the receiver's clock", () => {
    let now = new Date("2026-01-02T03:04:05.678Z");
    return withStore(
      dialect,
      async (store) => {
        const handle = async () => {
          now = new Date("2026-01-02T03:04:07.001Z");
          return { result: {} };
        };
        await runOnce(store, newRecord("e1"), handle, committing());
        expect(await store.find(newRecord("e1"), within(1_000))).toMatchObject({
          createdAt: "2026-01-02T03:04:05.678Z",
          processedAt: "2026-01-02T03:04:07.001Z",
        });
      },
      { clock: { ...systemClock, now: () => now } },
    );
  });

  it("a duplicate does not run, and returns the stored record", () =>
    withStore(dialect, async (store) => {
      await runOnce(store, newRecord("e1"), async () => ({ result: { run: 1 } }), committing());
      const again = await runOnce(
        store,
        newRecord("e1"),
        () => Promise.reject(new Error("must not run")),
        committing(),
      );
      expect(again).toMatchObject({ kind: "duplicate", record: { result: { run: 1 } } });
    }));

  it("a run that throws rolls back record, effects, notification and log row, and rethrows the same error", () =>
    withStore(
      dialect,
      async (store, target) => {
        const error = new Error("no stock");
        const run = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            await addEffect(scope, "e1");
            await scope.enqueue({ topic: "t", payload: {} });
            throw error;
          },
          committing(),
        );
        await expect(run).rejects.toBe(error);
        for (const table of ["oncehook_records", "effects", "oncehook_notifications", "oncehook_callbacks"]) {
          expect(await countOf(target, table)).toBe(0);
        }
      },
      { migrations },
    ));

  it("an event runs again after a failure", () =>
    withStore(dialect, async (store) => {
      await expect(
        runOnce(store, newRecord("e1"), () => Promise.reject(new Error("down")), committing()),
      ).rejects.toThrow();
      const ending = await runOnce(store, newRecord("e1"), async () => ({ result: { run: 2 } }), committing());
      expect(ending).toEqual({ kind: "completed", result: { run: 2 } });
    }));

  it("a duplicate with another body keeps the first body's fingerprint", () =>
    withStore(dialect, async (store) => {
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      const other = newRecord("e1", { bodySha256: "b".repeat(64) });
      const ending = await runOnce(store, other, async () => ({ result: {} }), committing());
      expect(ending).toMatchObject({ kind: "duplicate", record: { bodySha256: "a".repeat(64) } });
    }));

  it("the same id from another source is another event", () =>
    withStore(dialect, async (store, target) => {
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      const ending = await runOnce(
        store,
        newRecord("e1", { source: "bank" }),
        async () => ({ result: {} }),
        committing(),
      );
      expect(ending.kind).toBe("completed");
      expect(await countOf(target, "oncehook_records")).toBe(2);
    }));

  it("a dry run leaves nothing", () =>
    withStore(
      dialect,
      async (store, target) => {
        const options = { deadline: within(5_000), mode: "dry-run" } as const;
        const ending = await runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), options);
        expect(ending).toEqual({ kind: "dry-run", result: { event_id: "e1" } });
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      { migrations },
    ));

  it("ids that only look alike stay separate, byte for byte", () =>
    withStore(dialect, async (store, target) => {
      const ids = ["\u00e9", "e\u0301", "k", "k ", " k", "K", "😀", "x".repeat(255)];
      for (const id of ids) {
        expect((await runOnce(store, newRecord(id), async () => ({ result: { id } }), committing())).kind).toBe(
          "completed",
        );
      }
      expect(await countOf(target, "oncehook_records")).toBe(ids.length);
    }));

  it("a store keeps results that a jsonb column would refuse", () =>
    withStore(dialect, async (store) => {
      let deep: object = {};
      for (let level = 0; level < 60; level += 1) deep = { deep };
      const result = { nul: "a\u0000b", lone: "\ud800", huge: 1e300, deep } as never;
      await runOnce(store, newRecord("e1"), async () => ({ result }), committing());
      expect((await store.find(newRecord("e1"), within(1_000)))?.result).toEqual(result);
    }));

  it("the transaction is refused after its end", () =>
    withStore(
      dialect,
      async (store) => {
        const kept: (() => Promise<unknown>)[] = [];
        await runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            const connection = tx.connection as unknown as {
              prepare(sql: string): { run(): void };
              query(sql: string): Promise<unknown>;
            };
            const insert = "INSERT INTO effects (event_id) VALUES ('late')";
            const statement = dialect === "sqlite" ? connection.prepare(insert) : undefined;
            const query = tx.query;
            kept.push(
              () => query.insertInto("effects").values({ event_id: "late" }).execute(),
              async () => (statement === undefined ? connection.query(insert) : statement.run()),
            );
            return { result: {} };
          },
          committing(),
        );
        for (const use of kept) await expect(use()).rejects.toThrow("the transaction has ended");
      },
      { migrations },
    ));

  it("a transaction with an unawaited statement does not commit", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const run = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            void addEffect(scope, "e1").catch(() => {});
            return { result: {} };
          },
          committing(),
        );
        await expect(run).rejects.toThrow("await every use of `tx`");
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      { migrations },
    ));

  it.each(["COMMIT", " rollback ", "-- done\nCOMMIT", "/* done */ ; END", "BEGIN"])(
    "tx.query does not run %j",
    (statement) =>
      withStore(dialect, async (store) => {
        const run = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            await sql.raw(statement).execute(tx.query);
            return { result: {} };
          },
          committing(),
        );
        await expect(run).rejects.toThrow("the handler may not run");
      }),
  );

  it("a handler cannot commit by itself", () =>
    withStore(dialect, async (store, target) => {
      const run = runOnce(
        store,
        newRecord("e1"),
        async ({ tx }) => {
          const connection = tx.connection as unknown as {
            exec(sql: string): void;
            query(sql: string): Promise<unknown>;
          };
          if (dialect === "sqlite") connection.exec("COMMIT");
          else await connection.query("COMMIT");
          return { result: {} };
        },
        committing(),
      );
      await expect(run).rejects.toThrow(/may not run (?:"COMMIT"|this statement): Oncehook commits the transaction/);
      expect(await countOf(target, "oncehook_records")).toBe(0);
    }));

  it("tx.query cannot begin a transaction of its own", () =>
    withStore(dialect, async (store) => {
      const run = runOnce(
        store,
        newRecord("e1"),
        async ({ tx }) => ({ result: await tx.query.transaction().execute(async () => ({})) }),
        committing(),
      );
      await expect(run).rejects.toThrow("tx.query cannot begin a transaction");
    }));
});
