import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { inspectSqlite } from "../../src/store/sqlite/inspect.ts";

it.each([
  ["a user's table by any spelling of its name", "CREATE TABLE Users (id integer)", ["users"]],
  ["no database of Oncehook in one of its tables alone", "CREATE TABLE oncehook_schema (number integer)", []],
])("a look at an SQLite file finds %s", async (_title, make, tables) => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-inspect-"));
  try {
    const path = join(folder, "x.db");
    const database = new DatabaseSync(path);
    database.exec(make);
    database.close();
    expect(await inspectSqlite(path, { tables: ["users", "orders"] })).toEqual({ exists: false, tables });
  } finally {
    await rm(folder, { recursive: true });
  }
});
