import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { withMigrated } from "../../test/support/databases.ts";
import { namedBlocks, withFiles } from "../../test/support/doc-blocks.ts";
import { compile } from "../../test/support/in-project.ts";

const run = promisify(execFile);
const PLACE = "frameworks/once";
const blocks = Array.from(namedBlocks("docs/once.md"), ([name, text]) => ({
  name,
  text: text.replace('"oncehook/once"', '"../../../src/once/index.ts"'),
}));
const TSCONFIG = JSON.stringify({ extends: "../../tsconfig.json", include: ["."] });
const files = [["tsconfig.json", TSCONFIG], ...blocks.map(({ name, text }) => [`${name}.ts`, text])] as [
  string,
  string,
][];

describe("docs/once.md", () => {
  it("has a block for each of the eight libraries, and each compiles with the library's own types", async () => {
    expect(blocks).toHaveLength(8);
    expect(await withFiles(files, (folder) => compile([folder]), PLACE)).toEqual([""]);
  });

  it.each(blocks)("the block $name handles an event once", async ({ name }) => {
    await withMigrated("postgres", async ({ url }) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query("CREATE TABLE orders (id text PRIMARY KEY)");
      const outcomes = await withFiles(
        files,
        async (folder) => {
          const args = ["--conditions=oncehook-source", `${PLACE}/run-documented.ts`, join(folder, `${name}.ts`)];
          const { stdout } = await run(process.execPath, args, { env: { ...process.env, DATABASE_URL: url } });
          return JSON.parse(stdout);
        },
        PLACE,
      );
      const result = { order: "evt_1" };
      expect(outcomes).toEqual([
        { kind: "ran", result },
        { kind: "duplicate", result },
      ]);
      expect((await client.query("SELECT id FROM orders")).rows).toEqual([{ id: "evt_1" }]);
      await client.end();
    });
  });
});
