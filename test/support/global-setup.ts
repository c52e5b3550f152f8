import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { unfitNode } from "../../src/cli/unfit-node.js";
import { createScratchDatabase } from "../../src/store/postgres/index.ts";
import { buildAhead } from "./built-package.ts";
import { compileAhead } from "./compiled.ts";
import { execute } from "./execute.ts";
import { endLeftRunning, RUN_MARK } from "./left-running.ts";
import { openTarget, type Target } from "./open-target.ts";
import { startPostgresProcess } from "./postgres-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
    /** The certificate of npm's server; undefined for one that ran already. */
    postgresCaFile: string | undefined;
    /** A database on it with the schema and without any row, to be copied. */
    postgresTemplate: string;
    /** The same as a file of SQLite. */
    sqliteTemplate: string;
    /** What the test files of one run share; it goes with the run. */
    runFolder: string;
  }
}

/** Node 22, in which the frameworks' table runs on PostgreSQL, has none that handlers could use. */
const HAS_SQLITE = "bun" in process.versions || unfitNode(process.versions.node) === undefined;

/**
 * One real PostgreSQL for the whole run: the server binaries come from npm, or `TEST_DATABASE_URL` names a server
 * that runs already. When neither can be had the run fails; PostgreSQL is never skipped silently.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runFolder = await mkdtemp(join(tmpdir(), "oncehook-run-"));
  project.provide("runFolder", runFolder);
  process.env[RUN_MARK] = runFolder;
  const given = process.env.TEST_DATABASE_URL;
  const [postgres] = await Promise.all([
    given === undefined || given === "" ? startPostgresProcess() : undefined,
    compileAhead(),
    buildAhead(),
  ]);
  const url = postgres?.url ?? String(given);
  project.provide("postgresUrl", url);
  project.provide("postgresCaFile", postgres?.caFile);
  const scratch = await createScratchDatabase(url);
  await migrateTemplate({ dialect: "postgres", url: scratch.url });
  project.provide("postgresTemplate", new URL(scratch.url).pathname.slice(1));
  const file = join(runFolder, "template.db");
  if (HAS_SQLITE) await migrateTemplate({ dialect: "sqlite", url: `sqlite:${file}` });
  project.provide("sqliteTemplate", file);
  return async () => {
    await scratch.drop();
    await postgres?.stop();
    await rm(runFolder, { recursive: true, force: true });
    await endLeftRunning(runFolder);
  };
}

/** Whoever opens a copy first gives it its stamp, as with an empty database. */
async function migrateTemplate(target: Target): Promise<void> {
  const { store } = await openTarget(target);
  await store.close();
  await execute(target, "DELETE FROM oncehook_settings");
}
