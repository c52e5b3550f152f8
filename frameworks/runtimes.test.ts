import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type Dialect, withMigrated } from "../test/support/databases.ts";

const run = promisify(execFile);
const NODE_22 = "frameworks/node_modules/node-22/bin/node";
const BUN = "frameworks/node_modules/@oven/bun-linux-x64/bin/bun";

/** SQLite needs Node 24.10 or Bun. */
const CASES: readonly [name: string, program: string, dialect: Dialect][] = [
  ["Node 22", NODE_22, "postgres"],
  ["Bun", BUN, "postgres"],
  ["Bun", BUN, "sqlite"],
];

describe("another runtime", () => {
  // The folder has the programs for Linux on x64 only.
  it.runIf(existsSync(NODE_22) && existsSync(BUN)).each(CASES)(
    "%s handles callbacks behind Hono once",
    async (_name, program, dialect) => {
      await withMigrated(dialect, async ({ url }) => {
        const { stdout } = await run(program, ["--conditions=oncehook-source", "frameworks/runtime-child.ts", url]);
        expect(JSON.parse(stdout)).toEqual({
          first: ["200 success", "200 already_processed"],
          forged: "401 undefined",
          ...{ successes: 1, duplicates: 63 },
          work: { ran: 0, isDone: true },
        });
      });
    },
  );
});
