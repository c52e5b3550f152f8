import { describe, expect, it } from "vitest";
import { sql } from "../../src/store/index.ts";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { Flusher } from "../../src/store/sqlite/flusher.ts";
import { createRecordReader } from "../../src/store/sqlite/records.ts";
import { DIALECTS, databaseFile, openTarget, withDatabase } from "../support/databases.ts";
import { addEffect, committing, EFFECTS, newRecord, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

describe.each(DIALECTS)("a store on %s that is closed", (dialect) => {
  it("a closed store refuses a look-up, and nothing else ends with it", () =>
    withDatabase(dialect, async (target) => {
      const { store } = await openTarget(target);
      await store.close();
      const ended: string[] = [];
      const uncaught = (error: Error) => void ended.push(error.message);
      process.prependListener("uncaughtException", uncaught);
      try {
        await expect(store.find(newRecord("e1"), within(100))).rejects.toThrow();
      } finally {
        process.off("uncaughtException", uncaught);
      }
      expect(ended).toEqual([]);
    }));
});

it.each([
  { by: "a connection beside the writer's", isOwn: false },
  { by: "the writer's connection", isOwn: true },
])(
  "$by finds a record on SQLite when the disk has its commit, and not before; one flush serves until the next commit",
  ({ isOwn }) =>
    withDatabase("sqlite", async (target) => {
      await (await openTarget(target)).store.close();
      const path = databaseFile(target);
      const [writer, beside] = [new Connection(path), new Connection(path)];
      const flushes: PromiseWithResolvers<void>[] = [];
      const sync = () => {
        const flush = Promise.withResolvers<void>();
        flushes.push(flush);
        return flush.promise;
      };
      const flusher = new Flusher({ sync, close: async () => {} });
      let commits = 0;
      const read = isOwn ? createRecordReader(writer, flusher, () => commits) : createRecordReader(beside, flusher);
      const found: string[] = [];
      const find = async (id: string) => {
        const [record] = await read([{ key: newRecord(id) }]);
        found.push(record?.eventId ?? "none");
      };
      try {
        for (const [index, id] of ["e1", "e2"].entries()) {
          writer.run(INSERT, id);
          commits += 1;
          const looking = find(id);
          await expect.poll(() => flushes.length).toBe(index + 1);
          expect(found).not.toContain(id);
          flushes[index]?.resolve();
          await looking;
          expect(found).toContain(id);
          await find("e1");
          await find("e3");
        }
        expect(flushes).toHaveLength(2);
      } finally {
        for (const connection of [writer, beside]) connection.close();
      }
    }),
);

it("the writer's connection does not find a record of another process before a flush", () =>
  withDatabase("sqlite", async (target) => {
    await (await openTarget(target)).store.close();
    const [writer, other] = [new Connection(databaseFile(target)), new Connection(databaseFile(target))];
    let flushes = 0;
    const sync = async () => {
      flushes += 1;
    };
    const read = createRecordReader(writer, new Flusher({ sync, close: async () => {} }), () => 0);
    const find = async (id: string) => (await read([{ key: newRecord(id) }]))[0]?.eventId;
    try {
      for (const [index, id] of ["e1", "e2"].entries()) {
        other.run(INSERT, id);
        expect(await find(id)).toBe(id);
        expect(flushes).toBe(index + 1);
      }
    } finally {
      for (const connection of [writer, other]) connection.close();
    }
  }));

it("a delivery is looked up on SQLite while a handler of another event waits inside its transaction", () =>
  withDatabase("sqlite", async (target) => {
    const { store } = await openTarget(target, { migrations: [EFFECTS] });
    try {
      await runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
      const [inside, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const running = runOnce(
        store,
        newRecord("e2"),
        async (scope) => {
          inside.resolve();
          await release.promise;
          return addEffect(scope, "e2");
        },
        committing(),
      );
      await inside.promise;
      const found = await Promise.all(["e1", "e2"].map((id) => store.find(newRecord(id), within(1_000))));
      expect(found.map((record) => record?.eventId)).toEqual(["e1", undefined]);
      release.resolve();
      await running;
      expect((await store.find(newRecord("e2"), within(1_000)))?.eventId).toBe("e2");
    } finally {
      await store.close();
    }
  }));

it("a delivery is looked up on SQLite while a handler waits whose statement has ended its transaction", () =>
  withDatabase("sqlite", async (target) => {
    const { store } = await openTarget(target, { migrations: [EFFECTS] });
    try {
      const [inside, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const running = runOnce(
        store,
        newRecord("e1"),
        async ({ tx }) => {
          const insert = () => sql.raw("INSERT OR ROLLBACK INTO parents (id) VALUES (1)").execute(tx.query);
          await insert();
          await insert().catch(() => {});
          inside.resolve();
          await release.promise;
          return { result: {} };
        },
        committing(),
      ).catch((error: unknown) => error);
      await inside.promise;
      expect(await store.find(newRecord("e1"), within(1_000))).toBeUndefined();
      release.resolve();
      expect(await running).toBeInstanceOf(Error);
    } finally {
      await store.close();
    }
  }));

const INSERT = `INSERT INTO oncehook_records
  (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at)
  VALUES ('platform', ?, 'paid', 'v1', 'completed', '', '{}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`;
