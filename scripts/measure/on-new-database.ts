import { type RunningReceiver, start } from "../../src/app/index.ts";
import { temporaryDatabase } from "../../src/app/open-store.ts";
import { loadConfig } from "../../src/config/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { testEnvironment } from "../../src/testing/start-test-receiver.ts";
import type { Target } from "../../test/support/open-target.ts";

/** A database that has the schema and nothing else. */
export interface NewDatabase {
  readonly target: Target;
  /** Starts a receiver on it, which the caller stops. */
  serve(): Promise<RunningReceiver>;
}

/** @param server of PostgreSQL; undefined for SQLite @param token of the administrator */
export async function onNewDatabase<T>(
  dialect: Target["dialect"],
  server: string | undefined,
  token: string,
  work: (database: NewDatabase) => Promise<T>,
): Promise<T> {
  const { url, remove } = await temporaryDatabase(server);
  try {
    const config = loadConfig({ ...testEnvironment(), ADMIN_TOKEN: token, DATABASE_URL: url });
    const { logger } = capturedLog(config);
    const serve = () => start(config, { logger });
    // The first start makes the schema.
    await (await serve()).stop();
    return await work({ target: { dialect, url }, serve });
  } finally {
    await remove();
  }
}
