import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { Flusher, logFileOf } from "../../src/store/sqlite/flusher.ts";
import { Writer } from "../../src/store/sqlite/writer.ts";

const SOON = () => performance.now() + 5_000;

interface Opened {
  readonly path: string;
  readonly connection: Connection;
  readonly flusher: Flusher;
  readonly writer: Writer;
  write(n: number): Promise<number>;
  rows(): unknown[];
}

async function withWriter(run: (opened: Opened) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-writer-"));
  const path = join(folder, "x.db");
  const connection = new Connection(path);
  connection.database.exec("CREATE TABLE t (n integer)");
  const flusher = new Flusher(logFileOf(path));
  const writer = new Writer(connection, flusher, () => {});
  const write = (n: number) =>
    writer.submit(`e${n}`, SOON(), () => ({
      value: connection.run("INSERT INTO t VALUES (?)", n).changes,
      keep: true,
    }));
  const rows = () => connection.database.prepare("SELECT n FROM t").all();
  try {
    await run({ path, connection, flusher, writer, write, rows });
    await writer.drain();
  } finally {
    await flusher.close();
    connection.close();
    await rm(folder, { recursive: true });
  }
}

/** SQLite itself refuses ROLLBACK from here on; a savepoint can still be undone. */
function refuseRollback({ database }: Connection): void {
  database.setAuthorizer((action, operation) =>
    action === constants.SQLITE_TRANSACTION && operation === "ROLLBACK"
      ? constants.SQLITE_DENY
      : constants.SQLITE_OK,
  );
}

/** Fails in a way that its savepoint cannot undo, so that the group has to be rolled back. */
function beyondUndo({ connection, writer }: Opened, first: () => void): Promise<unknown> {
  return writer.submit("e2", SOON(), () => {
    first();
    connection.run("INSERT INTO t VALUES (2)");
    connection.database.exec("RELEASE oncehook_member");
    throw new Error("of its own");
  });
}

const BROKEN = { name: "StoreFault", reason: "unavailable", message: /could not be rolled back/ };
const STUCK = 1_000;

describe("the writer of SQLite", () => {
  it("goes on when what one member wrote cannot be undone by itself, and the others of its group have their end", () =>
    withWriter(async (opened) => {
      const first = opened.write(1);
      await expect(beyondUndo(opened, () => {})).rejects.toThrow("of its own");
      expect([await first, await opened.write(3)]).toEqual([1, 1]);
      expect(opened.rows()).toMatchObject([{ n: 1 }, { n: 3 }]);
    }));

  it("goes on after an error that has ended the transaction itself", () =>
    withWriter(async (opened) => {
      opened.connection.database.exec(
        "CREATE TRIGGER ends BEFORE INSERT ON t WHEN new.n = 2 BEGIN SELECT RAISE(ROLLBACK, 'ended'); END",
      );
      const [first, second] = [opened.write(1), opened.write(2)];
      await expect(second).rejects.toThrow("ended");
      expect([await first, await opened.write(3)]).toEqual([1, 1]);
      expect(opened.rows()).toMatchObject([{ n: 1 }, { n: 3 }]);
    }));

  it("fails its whole group and all that wait at once, and breaks the store, when ROLLBACK fails", () =>
    withWriter(async (opened) => {
      const begun = performance.now();
      const first = opened.write(1);
      const second = beyondUndo(opened, () => refuseRollback(opened.connection));
      const ends = await Promise.allSettled([first, second, opened.write(3)]);
      const later = await Promise.allSettled([opened.write(4)]);
      for (const end of [...ends, ...later])
        expect(end).toMatchObject({
          status: "rejected",
          reason: { ...BROKEN, message: expect.stringMatching(BROKEN.message) },
        });
      expect(performance.now() - begun).toBeLessThan(STUCK);
      expect(await opened.flusher.broken).toMatchObject({ cause: { message: "not authorized" } });
    }));

  it("answers commit_unknown and breaks the store when COMMIT fails and ROLLBACK after it", () =>
    withWriter(async (opened) => {
      opened.connection.database.exec("CREATE TABLE parent (id integer PRIMARY KEY)");
      opened.connection.database.exec(
        "CREATE TABLE child (id integer REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
      );
      const orphan = opened.writer.submit("e1", SOON(), () => {
        refuseRollback(opened.connection);
        return { value: opened.connection.run("INSERT INTO child VALUES (404)").changes, keep: true };
      });
      await expect(orphan).rejects.toMatchObject({ name: "StoreFault", reason: "commit_unknown" });
      await expect(opened.write(2)).rejects.toThrow(BROKEN.message);
    }));

  it("fails its group at once when the connection is closed in the middle of it", () =>
    withWriter(async (opened) => {
      const first = opened.write(1);
      const second = opened.writer.submit("e2", SOON(), () => {
        opened.connection.close();
        throw new Error("of its own");
      });
      for (const end of [first, second, opened.write(3)]) await expect(end).rejects.toThrow(BROKEN.message);
    }));

  it("takes nothing that waits into the transaction of a member that runs alone", () =>
    withWriter(async ({ writer, connection }) => {
      connection.database.exec(`CREATE TABLE parent (id integer PRIMARY KEY);
        CREATE TABLE child (parent integer REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)`);
      const runs: string[] = [];
      const run = (name: string, work = () => {}) =>
        writer.submit(name, SOON(), () => {
          runs.push(name);
          work();
          return { value: name, keep: true };
        });
      let late: Promise<string> | undefined;
      const first = run("first");
      const refused = run("refused", () => {
        // Its second run is the one alone.
        if (runs.length > 2) late ??= run("late");
        connection.run("INSERT INTO child VALUES (1)");
      });
      await expect(refused).rejects.toMatchObject({ reason: "commit_failed" });
      expect([await first, await late]).toEqual(["first", "late"]);
      expect(runs).toEqual(["first", "refused", "first", "refused", "late"]);
    }));

  it("calls an event in progress until its commit, and no longer", () =>
    withWriter(async ({ writer, path }) => {
      await writer.submit("e1", SOON(), () => ({ value: undefined, keep: true }));
      const other = new DatabaseSync(path);
      try {
        other.exec("BEGIN IMMEDIATE");
        const late = writer.submit("e1", performance.now(), () => ({ value: undefined, keep: true }));
        await expect(late).rejects.toMatchObject({ name: "StoreFault", reason: "unavailable" });
      } finally {
        other.close();
      }
    }));
});
