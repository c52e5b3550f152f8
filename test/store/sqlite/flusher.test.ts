import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, open, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { StoreError } from "../../../src/store/index.ts";
import { Connection } from "../../../src/store/sqlite/connection.ts";
import { Flusher, openWal, type WalFile } from "../../../src/store/sqlite/flusher.ts";
import { Writer } from "../../../src/store/sqlite/writer.ts";
import { committing, newRecord } from "../../support/effects.ts";
import { runOnce } from "../../support/once.ts";
import { openTarget } from "../../support/open-target.ts";

/** A disk whose flushes end when the test says so. */
function slowDisk() {
  const flushes: PromiseWithResolvers<void>[] = [];
  const file: WalFile = {
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

/** Records which files are flushed from here on, until `end`. */
async function recordFlushes(path: string) {
  const handle = await open(path);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { datasync } = prototype;
  const inodes: number[] = [];
  prototype.datasync = async function (this: typeof handle) {
    inodes.push((await this.stat()).ino);
    await datasync.call(this);
  };
  const end = () => {
    prototype.datasync = datasync;
  };
  return { inodes, end };
}

const SOON = () => performance.now() + 10_000;

describe("a commit on SQLite", () => {
  it("a commit is confirmed when the disk has it, and not before", () =>
    withWriter(async (writer, { flushes }) => {
      const ended: string[] = [];
      const work = writer.submit("e1", SOON(), () => "done");
      void work.then((value) => ended.push(value));
      await expect.poll(() => flushes.length).toBe(1);
      expect(ended).toEqual([]);
      flushes[0]?.resolve();
      expect(await work).toBe("done");
    }));

  it("a commit does not keep the next group from its work while the disk takes it", () =>
    withWriter(async (writer, { flushes }) => {
      const order: number[] = [];
      const member = (number: number) => () => {
        order.push(number);
        return number;
      };
      const first = writer.submit("e1", SOON(), member(1));
      await expect.poll(() => flushes.length).toBe(1);
      const [second, third] = [writer.submit("e2", SOON(), member(2)), writer.submit("e3", SOON(), member(3))];
      await expect.poll(() => order).toEqual([1, 2, 3]);
      // They were committed after the first flush had begun, so that they need one of their own.
      expect(flushes).toHaveLength(1);
      flushes[0]?.resolve();
      expect(await first).toBe(1);
      await expect.poll(() => flushes.length).toBe(2);
      flushes[1]?.resolve();
      expect(await Promise.all([second, third])).toEqual([2, 3]);
    }));

  it("a commit that the disk refuses is no success, and later ones are refused", () =>
    withWriter(async (writer, { flushes }) => {
      const work = writer.submit("e1", SOON(), () => 1);
      const failed = expect(work).rejects.toMatchObject({ name: "StoreError", reason: "commit_unknown" });
      await expect.poll(() => flushes.length).toBe(1);
      flushes[0]?.reject(new Error("EIO"));
      await failed;
      const later = writer.submit("e2", SOON(), () => 2);
      await expect(later).rejects.toMatchObject({ name: "StoreError", reason: "unavailable" });
      await writer.drain();
    }));

  it("a drain resolves when the disk has the commits, and not before", () =>
    withWriter(async (writer, { flushes }) => {
      const work = writer.submit("e1", SOON(), () => 1);
      await expect.poll(() => flushes.length).toBe(1);
      const ended: string[] = [];
      const drained = writer.drain().then(() => ended.push("drained"));
      await nextTurn();
      expect(ended).toEqual([]);
      flushes[0]?.resolve();
      await work;
      // What was committed since the first flush began is flushed by another one.
      await expect.poll(() => flushes.length).toBe(2);
      expect(ended).toEqual([]);
      flushes[1]?.resolve();
      await drained;
      expect(ended).toEqual(["drained"]);
    }));

  it(
    "an event whose flush never ends fails with commit_unknown after its deadline, and its late end changes nothing",
    { tags: "full" },
    () =>
      withWriter(async (writer, { flushes }) => {
        const ends: string[] = [];
        writer.add({
          eventKey: "e1",
          deadline: performance.now() + 50,
          needsOwnTransaction: false,
          run: async () => true,
          settle: () => ends.push("success"),
          fail: (error) => ends.push((error as StoreError).reason),
        });
        // One with a later deadline shares the commit, and waits for the disk.
        const later = writer.submit("e2", SOON(), () => "done");
        await expect.poll(() => ends, { timeout: 5_000 }).toEqual(["commit_unknown"]);
        flushes[0]?.resolve();
        expect(await later).toBe("done");
        expect(ends).toEqual(["commit_unknown"]);
      }),
  );

  it("a flush that has been running for seconds is reported until it ends", async () => {
    const { file, flushes } = slowDisk();
    const flusher = new Flusher(file);
    const flushed = flusher.flush();
    await nextTurn();
    expect(() => flusher.assertFlushing()).not.toThrow();
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 6_000);
    try {
      expect(() => flusher.assertFlushing()).toThrow("a flush of the WAL has been running for seconds");
      flushes[0]?.resolve();
      await flushed;
      await nextTurn();
      expect(() => flusher.assertFlushing()).not.toThrow();
    } finally {
      clock.mockRestore();
    }
  });

  it("a failed flush is not repeated, because a second one would report success for lost data", () =>
    withWriter(async (writer, { flushes }) => {
      const submit = (name: string) => writer.submit(name, SOON(), () => name);
      const first = expect(submit("e1")).rejects.toMatchObject({ reason: "commit_unknown" });
      await expect.poll(() => flushes.length).toBe(1);
      // Committed while the first flush is under way: it waits for a second one.
      const second = expect(submit("e2")).rejects.toMatchObject({ reason: "commit_unknown" });
      await nextTurn();
      await nextTurn();
      flushes[0]?.reject(new Error("EIO"));
      await Promise.all([first, second]);
      expect(flushes).toHaveLength(1);
    }));

  it("the flusher names the first of several failures", async () => {
    const flusher = new Flusher(slowDisk().file);
    const [first, second] = [new Error("EIO"), new Error("of the checkpoint")];
    flusher.markFailed(first);
    expect(flusher.markFailed(second)).toMatchObject({ cause: first });
    expect(() => flusher.assertIntact()).toThrow(expect.objectContaining({ cause: first }));
    expect(await flusher.broken).toMatchObject({ cause: first });
  });

  it.each<[string, string, (wal: string) => Promise<unknown>]>([
    ["is gone", "ENOENT", async () => {}],
    ["cannot be opened", "EISDIR", (wal) => mkdir(wal)],
  ])("a commit whose WAL %s is no success, and breaks the store", async (_what, code, replace) => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-flusher-"));
    const path = join(folder, "x.db");
    const connection = new Connection(path);
    connection.database.exec("CREATE TABLE t (n integer)");
    const flusher = new Flusher(openWal(path));
    const writer = new Writer(connection, flusher, () => {});
    try {
      await rm(`${path}-wal`);
      await replace(`${path}-wal`);
      const work = () => connection.run("INSERT INTO t VALUES (1)").changes;
      await expect(writer.submit("e1", SOON(), work)).rejects.toMatchObject({ reason: "commit_unknown" });
      expect(await flusher.broken).toMatchObject({ reason: "unavailable", cause: { code } });
    } finally {
      await flusher.close();
      connection.close();
      await rm(folder, { recursive: true });
    }
  });

  it("a commit to a database behind a symbolic link flushes the WAL beside the link's target", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-flusher-"));
    const [link, target] = [join(folder, "link.db"), join(folder, "data", "target.db")];
    await mkdir(join(folder, "data"));
    await symlink(target, link);
    const flushes = await recordFlushes(folder);
    try {
      const { store } = await openTarget({ dialect: "sqlite", url: `sqlite:${link}` });
      flushes.inodes.length = 0;
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(flushes.inodes).toEqual([statSync(`${target}-wal`).ino]);
      expect(existsSync(`${link}-wal`)).toBe(false);
      await store.close();
    } finally {
      flushes.end();
      await rm(folder, { recursive: true });
    }
  });
});
