import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { Flusher, logFileOf } from "../../src/store/sqlite/flusher.ts";
import { Writer } from "../../src/store/sqlite/writer.ts";

const SOON = () => performance.now() + 5_000;

async function withWriter(use: (writer: Writer, connection: Connection, path: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-writer-"));
  const path = join(folder, "x.db");
  const connection = new Connection(path);
  connection.database.exec("CREATE TABLE t (n integer)");
  const flusher = new Flusher(logFileOf(path));
  const writer = new Writer(connection, flusher, () => {});
  try {
    await use(writer, connection, path);
    await writer.drain();
  } finally {
    await flusher.close();
    connection.close();
    await rm(folder, { recursive: true });
  }
}

describe("the writer of SQLite", () => {
  it("goes on when what one member wrote cannot be undone by itself, and the others of its group have their end", () =>
    withWriter(async (writer, connection) => {
      const write = (n: number) =>
        writer.submit(`e${n}`, SOON(), () => ({
          value: connection.run("INSERT INTO t VALUES (?)", n).changes,
          keep: true,
        }));
      const first = write(1);
      const second = writer.submit("e2", SOON(), () => {
        connection.run("INSERT INTO t VALUES (2)");
        connection.database.exec("RELEASE oncehook_member");
        throw new Error("of its own");
      });
      await expect(second).rejects.toThrow("of its own");
      expect([await first, await write(3)]).toEqual([1, 1]);
      expect(connection.database.prepare("SELECT n FROM t").all()).toMatchObject([{ n: 1 }, { n: 3 }]);
    }));

  it("takes nothing that waits into the transaction of a member that runs alone", () =>
    withWriter(async (writer, connection) => {
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
    withWriter(async (writer, _connection, path) => {
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
