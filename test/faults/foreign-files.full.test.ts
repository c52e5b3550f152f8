import { createHash } from "node:crypto";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { type Ended, runOncehook } from "../support/child.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

function oncehook(file: string, ...args: string[]): Promise<Ended> {
  return runOncehook(args, {
    ...CHILD_ENVIRONMENT,
    DATABASE_URL: `sqlite:${file}`,
    PORT: "0",
    ADMIN_PORT: "0",
  });
}

const hashOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

function foreign(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE customers (name text); INSERT INTO customers VALUES ('Ada')");
  database.close();
}

it.each([
  ["a text", (file: string) => writeFileSync(file, "a letter to my mother\n".repeat(500)), "not a database"],
  [
    "a database that was cut off",
    async (file: string) => {
      await oncehook(file, "migrate");
      truncateSync(file, 40_960);
    },
    "malformed",
  ],
  ["somebody else's database", foreign, "holds tables, and none of Oncehook's"],
  [
    "a database of another program that says so",
    (file: string) => {
      foreign(file);
      const database = new DatabaseSync(file);
      database.exec("PRAGMA application_id = 252006673");
      database.close();
    },
    "holds tables, and none of Oncehook's",
  ],
])("the start on %s is refused with a clear error, and the file is as it was", async (_title, make, words) => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-foreign-"));
  try {
    const file = join(folder, "some.db");
    await make(file);
    const before = hashOf(file);
    const { code, stderr } = await oncehook(file, "serve");
    expect(code).toBe(1);
    expect(stderr).toContain("DATABASE_URL");
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
    expect(hashOf(file)).toBe(before);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
