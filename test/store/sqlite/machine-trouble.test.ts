import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Connection } from "../../../src/store/sqlite/connection.ts";
import { Flusher, openWal } from "../../../src/store/sqlite/flusher.ts";
import { Writer } from "../../../src/store/sqlite/writer.ts";

let folder = "";
let connection: Connection;
let flusher: Flusher;
const path = () => join(folder, "x.db");
const soon = () => performance.now() + 5_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-trouble-"));
  connection = new Connection(path());
  connection.database.exec("CREATE TABLE t (n integer)");
  flusher = new Flusher(openWal(path()));
});

afterAll(async () => {
  await flusher.close();
  connection.close();
  await rm(folder, { recursive: true });
});

it.each([
  ["NOMEM", 7],
  ["READONLY", 8],
  ["IOERR_FSYNC", 1034],
  ["FULL", 13],
  ["CANTOPEN", 14],
  ["PROTOCOL", 15],
])(
  "a statement of SQLite that fails with %s makes the database unavailable, and is no failure of its event",
  async (name, errcode) => {
    const error = Object.assign(new Error(name), { code: "ERR_SQLITE_ERROR", errcode });
    const writer = new Writer(connection, flusher, () => {});
    const ended = writer.submit("e1", soon(), () => Promise.reject(error));
    await expect(ended).rejects.toMatchObject({
      name: "StoreError",
      reason: "unavailable",
      cause: { message: name },
    });
  },
);

it("an error of another service with the number of a full disk is a failure of its event on SQLite", async () => {
  const error = Object.assign(new Error("invalid media"), { errcode: 61_453 });
  const writer = new Writer(connection, flusher, () => {});
  await expect(writer.submit("e1", soon(), () => Promise.reject(error))).rejects.toBe(error);
});

it("a constraint that a statement breaks on SQLite is a failure of its event", async () => {
  const error = Object.assign(new Error("UNIQUE"), { code: "ERR_SQLITE_ERROR", errcode: 2067 });
  const writer = new Writer(connection, flusher, () => {});
  await expect(writer.submit("e1", soon(), () => Promise.reject(error))).rejects.toBe(error);
});

it("events that wait on SQLite fail as unavailable where the database accepts no transaction", async () => {
  const file = join(folder, "y.db");
  const troubled = new Connection(file);
  troubled.close();
  // Where the write-ahead log cannot be opened, SQLite says CANTOPEN.
  await mkdir(`${file}-wal`);
  Reflect.set(troubled, "database", new DatabaseSync(file));
  try {
    const writer = new Writer(troubled, flusher, () => {});
    const ended = writer.submit("e1", soon(), () => 1);
    await expect(ended).rejects.toMatchObject({
      name: "StoreError",
      reason: "unavailable",
      cause: { errcode: 14 },
    });
  } finally {
    troubled.close();
  }
});
