import { randomBytes } from "node:crypto";
import {
  type InspectableReceiver,
  startInspectableReceiver,
  type TemporaryDatabase,
  temporaryDatabase,
} from "../app/index.ts";
import { type Config, type ConfigFile, loadConfig } from "../config/index.ts";
import { type ConfiguredSource, configuredSources } from "../configured/index.ts";
import { callOnce } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { keepCallSites } from "../store/index.ts";
import { capturedLog, type LogLine } from "./captured-log.ts";
import { createSend, type Send } from "./send.ts";
import { dueWork, readStoredData, type StoredData } from "./stored-data.ts";
import { createTestClock, type TestClock } from "./test-clock.ts";

/** The options of a test receiver; the export of `oncehook.config.ts` fits as it is. */
export interface TestReceiverOptions extends ConfigFile {
  /** Variables of the README, over those that a test receiver sets; none is read from the process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A temporary SQLite file when left out. `postgres://…`: a database of its own on that server, dropped at the end, for
   * which the user needs CREATEDB. `sqlite:<file>`: this file, which stays.
   */
  readonly databaseUrl?: string | undefined;
  /** The clock's first time: that of the start when left out. */
  readonly now?: Date;
  /** Whether `send` prints the error of a 5xx response on standard error; true when left out. */
  readonly printFailures?: boolean;
}

/** A real receiver on ports of its own. `await using` closes it. */
export interface TestReceiver extends StoredData, AsyncDisposable {
  /** The unified callback address. */
  readonly url: string;
  readonly adminOrigin: string;
  /** The admin API's bearer token. */
  readonly adminToken: string;
  /** Signs the callbacks. */
  readonly signingSecret: string;
  readonly databaseUrl: string;
  readonly clock: TestClock;
  /** The lines of its log so far. */
  readonly lines: readonly LogLine[];
  /**
   * Sends a signed callback of the platform. With `source`, of one of the `sources`: in its platform's shape and signed
   * as that signs. With another AUTH_METHOD than hmac, give the platform's credentials as `headers`.
   * @throws SampleError where only the source's platform can make such a callback
   */
  readonly send: Send;
  /** Sends it with a signature or token that is not the platform's, as a forger would. */
  readonly sendForged: Send;
  /** Stops it and takes its temporary database away. Callable more than once. */
  close(): Promise<void>;
}

/** The loops look for nothing by themselves: the clock moves them. As long as a timer can wait. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Starts a receiver as `oncehook serve` does, on free ports and a temporary database, with a clock that the test moves.
 * @throws ConfigError for `env`, MigrationError, StartError
 */
export async function startTestReceiver(options: TestReceiverOptions = {}): Promise<TestReceiver> {
  // The rest is what a configuration file exports: a key of neither is refused.
  const { env, databaseUrl, now: _now, printFailures: _prints, ...file } = options;
  const database = await temporaryDatabase(databaseUrl);
  try {
    const config = loadConfig({ ...testEnvironment(), DATABASE_URL: database.url, ...env }, file);
    return await startOn(database, config, options, await configuredSources(config));
  } catch (error) {
    await database.remove();
    throw error;
  }
}

async function startOn(
  database: TemporaryDatabase,
  config: Config,
  { handlers = [], migrations = [], now = new Date(), printFailures = true }: TestReceiverOptions,
  sources: readonly ConfiguredSource[],
): Promise<TestReceiver> {
  keepCallSites();
  const { logger, secretValues, lines } = capturedLog(config, sources);
  const clock = createTestClock(now, () => dueWork(running.receiver.store, running.runDue));
  const running: InspectableReceiver = await startInspectableReceiver(config, {
    handlers: handlers as readonly Handler[],
    migrations,
    clock,
    logger,
    secretValues,
    retryPollMs: NEVER_MS,
    bulkPollMs: NEVER_MS,
    backfillPollMs: NEVER_MS,
    outboxPollMs: NEVER_MS,
    refreshPollMs: NEVER_MS,
    reconcilePollMs: NEVER_MS,
  });
  const baseUrl = `${running.publicOrigin}${config.basePath}`;
  const url = `${baseUrl}/api/platform/callback`;
  const [signingSecret = ""] = config.authentication.signing.secrets;
  const origin = config.isBaseUrlGiven ? new URL(config.baseUrl).origin : running.publicOrigin;
  const { send, sendForged } = createSend({
    ...{ url, baseUrl, origin, sources, signingSecret, clock, lines, printFailures },
  });
  const close = callOnce(async () => {
    try {
      await running.stop();
    } finally {
      await database.remove();
    }
  });
  return {
    url,
    adminOrigin: running.adminOrigin,
    adminToken: String(config.admin.token),
    signingSecret,
    databaseUrl: database.url,
    clock,
    lines,
    ...readStoredData(running.receiver),
    send,
    sendForged,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The variables that every test receiver is started with, besides its database. Nothing is read from the process's own. */
export function testEnvironment(): Readonly<Record<string, string>> {
  return {
    APP_ENV: "test",
    // Any free ones.
    PORT: "0",
    ADMIN_PORT: "0",
    SIGNING_SECRET: randomBytes(32).toString("base64url"),
    ADMIN_TOKEN: randomBytes(24).toString("base64url"),
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    // A test may send more than ten callbacks a minute from one address.
    RATE_LIMIT_DEFAULT: "off",
    RATE_LIMIT_CALLBACK: "off",
  };
}
