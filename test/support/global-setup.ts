import type { TestProject } from "vitest/node";
import { startPostgresProcess } from "./postgres-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
    /** The certificate of npm's server; undefined for one that ran already. */
    postgresCaFile: string | undefined;
  }
}

/**
 * One real PostgreSQL for the whole run: the server binaries come from npm, or `TEST_DATABASE_URL` names a server
 * that runs already. When neither can be had the run fails; PostgreSQL is never skipped silently.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    project.provide("postgresCaFile", undefined);
    return async () => {};
  }
  const { url, caFile, stop } = await startPostgresProcess();
  project.provide("postgresUrl", url);
  project.provide("postgresCaFile", caFile);
  return stop;
}
