import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { Flusher, logFileOf } from "../../src/store/sqlite/flusher.ts";
import { Writer } from "../../src/store/sqlite/writer.ts";

const SOON = () => performance.now() + 5_000;

describe("the writer of SQLite", () => {
  it("goes on when what one member wrote cannot be undone by itself, and the others of its group have their end", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-writer-"));
    const connection = new Connection(join(folder, "x.db"));
    connection.database.exec("CREATE TABLE t (n integer)");
    const flusher = new Flusher(logFileOf(join(folder, "x.db")));
    const writer = new Writer(connection, flusher, () => {});
    const write = (n: number) =>
      writer.submit(`e${n}`, SOON(), () => ({
        value: connection.run("INSERT INTO t VALUES (?)", n).changes,
        keep: true,
      }));
    try {
      const first = write(1);
      const second = writer.submit("e2", SOON(), () => {
        connection.run("INSERT INTO t VALUES (2)");
        connection.database.exec("RELEASE oncehook_member");
        throw new Error("of its own");
      });
      await expect(second).rejects.toThrow("of its own");
      expect([await first, await write(3)]).toEqual([1, 1]);
      expect(connection.database.prepare("SELECT n FROM t").all()).toMatchObject([{ n: 1 }, { n: 3 }]);
      await writer.drain();
    } finally {
      await flusher.close();
      connection.close();
      await rm(folder, { recursive: true });
    }
  });
});
