import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Connection, WAL_SIZE_LIMIT_BYTES } from "../../../src/store/sqlite/connection.ts";

const KEPT = 256;
const prepared: string[] = [];
let folder = "";
let connection: Connection;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-connection-"));
  connection = new Connection(join(folder, "x.db"));
  const { database } = connection;
  const prepare = database.prepare.bind(database);
  database.prepare = (sql) => {
    prepared.push(sql);
    return prepare(sql);
  };
});

afterAll(async () => {
  connection.close();
  await rm(folder, { recursive: true });
});

it.each([
  ["journal_mode", "wal"],
  // NORMAL: the log is flushed apart, and a checkpoint flushes what it copies.
  ["synchronous", 1],
  ["foreign_keys", 1],
  ["trusted_schema", 0],
  // A wait inside SQLite would stop every other request.
  ["busy_timeout", 0],
  ["journal_size_limit", WAL_SIZE_LIMIT_BYTES],
])("a connection to SQLite has %s at %s, as durability and the other requests need it", (pragma, value) => {
  const row = connection.database.prepare(`PRAGMA ${pragma}`).get() ?? {};
  expect(Object.values(row)).toEqual([value]);
});

it("a connection to SQLite keeps its last 256 texts prepared, and drops the oldest for a new one", () => {
  const text = (number: number) => `SELECT ${number} AS n`;
  prepared.length = 0;
  for (let number = 0; number < KEPT; number += 1) connection.get(text(number));
  for (let number = 0; number < KEPT; number += 1) connection.get(text(number));
  expect(prepared).toHaveLength(KEPT);
  connection.get(text(KEPT));
  connection.get(text(1));
  expect(prepared).toHaveLength(KEPT + 1);
  connection.get(text(0));
  expect(prepared.at(-1)).toBe(text(0));
  expect(prepared).toHaveLength(KEPT + 2);
});

it("a value that SQLite has no type for is stored as the one that reads back best", () => {
  const bytes = new Uint8Array([1, 2]);
  const parameters = [bytes, true, false, new Date(0), undefined, 7n];
  const sql = "SELECT ? AS bytes, ? AS yes, ? AS no, ? AS at, ? AS absent, ? AS big";
  expect(connection.execute({ sql, parameters }).rows).toEqual([
    { bytes, yes: 1, no: 0, at: "1970-01-01T00:00:00.000Z", absent: null, big: 7 },
  ]);
});
