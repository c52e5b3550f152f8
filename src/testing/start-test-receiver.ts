import { randomBytes, randomUUID } from "node:crypto";
import {
  type InspectableReceiver,
  startInspectableReceiver,
  type TemporaryDatabase,
  temporaryDatabase,
} from "../app/index.ts";
import { type Config, type ConfigFile, loadConfig } from "../config/index.ts";
import type { Version } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { keepCallSites, withHandlersFrames } from "../store/index.ts";
import { capturedLog, type LogLine } from "./captured-log.ts";
import { type CallbackResponse, postCallback } from "./post-callback.ts";
import { dueWork, readStoredData, type StoredData } from "./stored-data.ts";
import { createTestClock, type TestClock } from "./test-clock.ts";

/** What a test receiver is made of; the export of `oncehook.config.ts` fits as it is. */
export interface TestReceiverOptions extends ConfigFile {
  /** Variables of the README, over those that a test receiver sets; none is read from the process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A temporary SQLite file when left out. `postgres://…`: a database of its own on that server, dropped at the end, for
   * which the user needs CREATEDB. `sqlite:<file>`: this file, which stays.
   */
  readonly databaseUrl?: string | undefined;
  /** Where the clock begins: the time of the start when left out. */
  readonly now?: Date;
  /** Whether `send` prints the error of a 5xx answer on standard error; true when left out. */
  readonly printFailures?: boolean;
}

/** An event as a test writes it down; what is left out is made up. */
export interface TestEvent {
  readonly event_type: string;
  readonly data?: object;
  readonly event_id?: string;
  /** Seconds since the Unix epoch; the clock's time when left out. */
  readonly timestamp?: number;
}

export interface SendOptions {
  /** Sent as `X-API-Version`. */
  readonly version?: Version;
  /** These win over the signature and the others that are made here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent, and signed, instead of the event: for bodies that are no event. */
  readonly raw?: string | Uint8Array;
}

export interface SentResponse extends CallbackResponse {
  /** The event as it was sent: send it again for a redelivery. */
  readonly event: Required<TestEvent>;
  /**
   * The error behind a 5xx answer, masked, with the handler's lines of its stack; undefined for other answers. The answer
   * itself says no more than "internal error".
   */
  readonly failure: string | undefined;
}

/** A real receiver on ports of its own. `await using` closes it. */
export interface TestReceiver extends StoredData, AsyncDisposable {
  /** The unified callback address. */
  readonly url: string;
  readonly adminOrigin: string;
  /** The admin API's bearer token. */
  readonly adminToken: string;
  /** What signs the callbacks. */
  readonly signingSecret: string;
  readonly databaseUrl: string;
  readonly clock: TestClock;
  /** The lines of its log so far. */
  readonly lines: readonly LogLine[];
  /** Sends a signed callback. With another AUTH_METHOD than hmac, give the credentials as `headers`. */
  send(event: TestEvent, sending?: SendOptions): Promise<SentResponse>;
  /** Sends it signed with a secret that is not the platform's. */
  sendForged(event: TestEvent, sending?: SendOptions): Promise<SentResponse>;
  /** Stops it and takes its temporary database away. Callable more than once. */
  close(): Promise<void>;
}

/** The loops look for nothing by themselves: the clock moves them. As long as a timer can wait. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Starts a receiver as `oncehook serve` does, on any free ports and a temporary database, with a clock that the test moves.
 * @throws ConfigError for `env`, MigrationError, StartError
 */
export async function startTestReceiver(options: TestReceiverOptions = {}): Promise<TestReceiver> {
  const database = await temporaryDatabase(options.databaseUrl);
  try {
    const { handlers = [], sources = {} } = options;
    const config = loadConfig(
      { ...testEnvironment(), DATABASE_URL: database.url, ...options.env },
      { handlers, sources },
    );
    return await startOn(database, config, options);
  } catch (error) {
    await database.remove();
    throw error;
  }
}

async function startOn(
  database: TemporaryDatabase,
  config: Config,
  { handlers = [], migrations = [], now = new Date(), printFailures = true }: TestReceiverOptions,
): Promise<TestReceiver> {
  keepCallSites();
  const { logger, lines } = capturedLog(config);
  const clock = createTestClock(now, () => dueWork(running.store, running.runDue));
  const running: InspectableReceiver = await startInspectableReceiver(config, {
    handlers: handlers as readonly Handler[],
    migrations,
    clock,
    logger,
    retryPollMs: NEVER_MS,
    bulkPollMs: NEVER_MS,
    outboxPollMs: NEVER_MS,
    refreshPollMs: NEVER_MS,
    reconcilePollMs: NEVER_MS,
  });
  const url = `${running.publicOrigin}${config.basePath}/api/platform/callback`;
  const [signingSecret = ""] = config.authentication.signing.secrets;
  const send = createSend(url, clock, lines, printFailures);
  const stopAndRemove = async () => {
    try {
      await running.stop();
    } finally {
      await database.remove();
    }
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= stopAndRemove();
    return closing;
  };
  return {
    url,
    adminOrigin: running.adminOrigin,
    adminToken: config.admin.token,
    signingSecret,
    databaseUrl: database.url,
    clock,
    lines,
    ...readStoredData(running.store),
    send: (event, sending) => send(signingSecret, event, sending),
    sendForged: (event, sending) => send(randomBytes(32).toString("base64url"), event, sending),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createSend(url: string, clock: TestClock, lines: readonly LogLine[], printFailures: boolean) {
  return async (secret: string, given: TestEvent, sending: SendOptions = {}): Promise<SentResponse> => {
    const timestamp = Math.floor(clock.now().getTime() / 1000);
    const event = { event_id: `evt_${randomUUID()}`, timestamp, data: {}, ...given };
    const { version, raw = JSON.stringify(event) } = sending;
    const headers = {
      "x-timestamp": String(event.timestamp),
      ...(version === undefined ? {} : { "x-api-version": version }),
      ...sending.headers,
    };
    const callback = { body: Buffer.from(raw), type: event.event_type, headers };
    const answer = await postCallback(url, secret, callback);
    const failure = failureOf(answer, lines);
    if (failure !== undefined && printFailures)
      process.stderr.write(`${event.event_type} was answered ${answer.status}: ${failure}\n`);
    return { ...answer, event, failure };
  };
}

/** Its log line is written in the turn of the answer. */
function failureOf({ status, headers }: CallbackResponse, lines: readonly LogLine[]): string | undefined {
  if (status < 500) return undefined;
  const requestId = headers.get("x-request-id");
  const line = lines.findLast(({ request_id, error }) => request_id === requestId && error !== undefined);
  return line === undefined ? undefined : withHandlersFrames(String(line.error));
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
