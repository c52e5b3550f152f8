import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { Flusher, type LogFile } from "../../src/store/sqlite/flusher.ts";
import { Writer } from "../../src/store/sqlite/writer.ts";

/** A disk whose flushes end when the test says so. */
function slowDisk() {
  const flushes: PromiseWithResolvers<void>[] = [];
  const file: LogFile = {
    sync() {
      const flush = Promise.withResolvers<void>();
      flushes.push(flush);
      return flush.promise;
    },
    close: async () => {},
  };
  return { file, flushes };
}

async function withWriter(use: (writer: Writer, disk: ReturnType<typeof slowDisk>) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-flusher-"));
  const connection = new Connection(join(folder, "x.db"));
  connection.database.exec("CREATE TABLE t (n integer)");
  const disk = slowDisk();
  try {
    await use(new Writer(connection, new Flusher(disk.file), () => {}), disk);
  } finally {
    connection.close();
    await rm(folder, { recursive: true });
  }
}

const SOON = () => performance.now() + 10_000;

describe("a commit on SQLite", () => {
  it("is answered when the disk has it, and not before", () =>
    withWriter(async (writer, { flushes }) => {
      const ended: string[] = [];
      const work = writer.submit("e1", SOON(), () => ({ value: "done", keep: true }));
      void work.then((value) => ended.push(value));
      await expect.poll(() => flushes.length).toBe(1);
      expect(ended).toEqual([]);
      flushes[0]?.resolve();
      expect(await work).toBe("done");
    }));

  it("does not keep the next group from its work while the disk takes it", () =>
    withWriter(async (writer, { flushes }) => {
      const order: number[] = [];
      const member = (number: number) => () => {
        order.push(number);
        return { value: number, keep: true };
      };
      const first = writer.submit("e1", SOON(), member(1));
      await expect.poll(() => flushes.length).toBe(1);
      const [second, third] = [
        writer.submit("e2", SOON(), member(2)),
        writer.submit("e3", SOON(), member(3)),
      ];
      await expect.poll(() => order).toEqual([1, 2, 3]);
      // They were committed after the first flush had begun, so that they need one of their own.
      expect(flushes).toHaveLength(1);
      flushes[0]?.resolve();
      expect(await first).toBe(1);
      await expect.poll(() => flushes.length).toBe(2);
      flushes[1]?.resolve();
      expect(await Promise.all([second, third])).toEqual([2, 3]);
    }));

  it("that the disk does not take is no success, and nothing is accepted after it", () =>
    withWriter(async (writer, { flushes }) => {
      const work = writer.submit("e1", SOON(), () => ({ value: 1, keep: true }));
      const failed = expect(work).rejects.toMatchObject({ name: "StoreFault", reason: "commit_unknown" });
      await expect.poll(() => flushes.length).toBe(1);
      flushes[0]?.reject(new Error("EIO"));
      await failed;
      const later = writer.submit("e2", SOON(), () => ({ value: 2, keep: true }));
      await expect(later).rejects.toMatchObject({ name: "StoreFault", reason: "unavailable" });
      await writer.drain();
    }));
});
