import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CopySource } from "../../../src/store/copy/copy-source.ts";
import { openCopySource } from "../../../src/store/copy/index.ts";
import { openTarget } from "../../support/open-target.ts";

let folder = "";
let path = "";
let source: CopySource;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-copy-source-"));
  path = join(folder, "x.db");
  await (await openTarget({ dialect: "sqlite", url: `sqlite:${path}` })).store.close();
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE plain (n integer);
    INSERT INTO plain (_rowid_, n) VALUES (9, 1), (-3, 2), (5, 9007199254740993);
    CREATE TABLE keyed (k text PRIMARY KEY, n integer) WITHOUT ROWID;
    INSERT INTO keyed VALUES ('c', 3), ('a', 1), ('b', 2);
    CREATE TABLE named (_ROWID_ text, "say ""n""" integer);
    INSERT INTO named VALUES ('z', 1), ('y', 2);
    CREATE VIEW seen AS SELECT * FROM plain;
    CREATE TABLE made (n integer, twice integer GENERATED ALWAYS AS (n * 2));
    CREATE VIRTUAL TABLE found USING fts5 (words);
  `);
  database.close();
  source = openCopySource(path);
});

afterAll(async () => {
  source.close();
  await rm(folder, { recursive: true });
});

const rows = (table: string, columns: string[], after?: string) => [...source.rows(table, columns, after)];

it("a copy reads rows in the order of their row ids, each with all its digits, and goes on after a position", () => {
  const all = [
    { position: "-3", values: [2n] },
    { position: "5", values: [9_007_199_254_740_993n] },
    { position: "9", values: [1n] },
  ];
  expect(rows("plain", ["n"])).toEqual(all);
  expect(rows("plain", ["n"], "-3")).toEqual(all.slice(1));
  expect(rows("plain", ["n"], "9")).toEqual([]);
});

it("a copy reads a table without row ids in the order of its key, and goes on after a position", () => {
  const all = [
    { position: "1", values: ["a", 1n] },
    { position: "2", values: ["b", 2n] },
    { position: "3", values: ["c", 3n] },
  ];
  expect(rows("keyed", ["k", "n"])).toEqual(all);
  expect(rows("keyed", ["k", "n"], "2")).toEqual(all.slice(2));
});

it("a copy takes no column for the row id that has its name", () => {
  expect(rows("named", ["_ROWID_", 'say "n"'], "1")).toEqual([{ position: "2", values: ["y", 2n] }]);
});

it("a copy knows the tables of users with all their columns, and no view", () => {
  const tables = new Map(source.tables.map(({ name, ...table }) => [name, table]));
  expect(tables.get("plain")).toEqual({ columns: ["n"], rows: 3 });
  expect(tables.get("made")).toEqual({ columns: ["n", "twice"], rows: 0 });
  expect(tables.has("found")).toBe(true);
  expect([...tables.keys()].filter((name) => name === "seen" || name.startsWith("sqlite_"))).toEqual([]);
});

it("a copy keeps every other process out of its source, and changes nothing there itself", () => {
  const other = new DatabaseSync(path);
  expect(() => other.prepare("SELECT count(*) FROM plain").get()).toThrow("database is locked");
  other.close();
  expect(() => openCopySource(path)).toThrow("is in use; stop the receiver first");
});
