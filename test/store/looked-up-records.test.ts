import { describe, expect, it } from "vitest";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { Flusher } from "../../src/store/sqlite/flusher.ts";
import { createRecordReader } from "../../src/store/sqlite/records.ts";
import { DIALECTS, databaseFile, openTarget, withDatabase } from "../support/databases.ts";
import { newRecord, within } from "../support/effects.ts";

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

it("a record is found on SQLite when the disk has its commit, and not before; one flush serves until the next commit", () =>
  withDatabase("sqlite", async (target) => {
    await (await openTarget(target)).store.close();
    const path = databaseFile(target);
    const [writer, reader] = [new Connection(path), new Connection(path)];
    const flushes: PromiseWithResolvers<void>[] = [];
    const sync = () => {
      const flush = Promise.withResolvers<void>();
      flushes.push(flush);
      return flush.promise;
    };
    const read = createRecordReader(reader, new Flusher({ sync, close: async () => {} }));
    const found: string[] = [];
    const find = async (id: string) => {
      const [record] = await read([{ key: newRecord(id) }]);
      found.push(record?.eventId ?? "none");
    };
    try {
      for (const [index, id] of ["e1", "e2"].entries()) {
        writer.run(INSERT, id);
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
      for (const connection of [writer, reader]) connection.close();
    }
  }));

const INSERT = `INSERT INTO oncehook_records
  (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at)
  VALUES ('platform', ?, 'paid', 'v1', 'completed', '', '{}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`;
