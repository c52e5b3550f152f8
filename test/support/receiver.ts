import { type RunningReceiver, start } from "../../src/app/index.ts";
import { type Config, loadConfig } from "../../src/config/index.ts";
import { configuredSources } from "../../src/configured/index.ts";
import type { Clock } from "../../src/domain/index.ts";
import type { Handler } from "../../src/handlers/index.ts";
import type { SourceDefinition } from "../../src/sources/index.ts";
import type { Migration } from "../../src/store/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { type CallbackResponse, postCallback, toCallbackResponse } from "../../src/testing/post-callback.ts";
import { testEnvironment } from "../../src/testing/start-test-receiver.ts";
import { KEY } from "./configuration.ts";
import { type Dialect, withMigrated } from "./databases.ts";
import { countOf } from "./effects.ts";
import type { Target } from "./open-target.ts";
import { SECRET, TOKEN } from "./secrets.ts";

export type { CallbackResponse } from "../../src/testing/post-callback.ts";
export { SECRET, TOKEN } from "./secrets.ts";

export interface Sending {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly secret?: string;
  /** Sent as it is instead of the event. */
  readonly raw?: string | Uint8Array;
}

/** A receiver that serves, with what a test needs to talk to it and to look behind it. */
export interface TestReceiver extends RunningReceiver {
  readonly target: Target;
  /** The lines of the log so far. */
  readonly lines: Record<string, unknown>[];
  send(event: object, sending?: Sending): Promise<CallbackResponse>;
  admin(path: string, init?: RequestInit): Promise<CallbackResponse>;
  count(table: string, where?: string): Promise<number>;
}

export interface ReceiverOptions {
  readonly env?: Record<string, string>;
  /** Platforms beside the specification's. */
  readonly sources?: Readonly<Record<string, SourceDefinition>>;
  readonly handlers?: readonly Handler[];
  readonly migrations?: readonly Migration[];
  readonly clock?: Clock;
  readonly retryPollMs?: number;
  readonly bulkPollMs?: number;
  readonly backfillPollMs?: number;
  readonly outboxPollMs?: number;
  readonly refreshPollMs?: number;
  readonly resealPollMs?: number;
  readonly alertPollMs?: number;
  readonly rollupPollMs?: number;
  readonly secretPollMs?: number;
  readonly reconcilePollMs?: number;
  readonly upkeepPollMs?: number;
}

/** Secrets that are the same in every test, since several of them share a database. */
const ENVIRONMENT = {
  ...testEnvironment(),
  SIGNING_SECRET: SECRET,
  ADMIN_TOKEN: TOKEN,
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
};

/** The configuration of a receiver on this database. */
export function testConfig(
  target: Target,
  env: Record<string, string> = {},
  file: Parameters<typeof loadConfig>[1] = {},
): Config {
  const key = env.APP_ENV === "production" ? { ENCRYPTION_KEY: KEY } : {};
  return loadConfig({ ...ENVIRONMENT, ...key, DATABASE_URL: target.url, ...env }, file);
}

/** Starts a receiver on a database that may be shared with others. */
export async function startReceiver(target: Target, options: ReceiverOptions = {}): Promise<TestReceiver> {
  const { sources = {} } = options;
  const config = testConfig(target, options.env, { sources });
  const { logger, secretValues, lines } = capturedLog(config, await configuredSources(config));
  const { env: _env, sources: _sources, ...parts } = options;
  // Tests that want a round of retries run one; the loop itself looks up rarely.
  const running = await start(config, {
    retryPollMs: 3_600_000,
    bulkPollMs: 3_600_000,
    backfillPollMs: 3_600_000,
    outboxPollMs: 3_600_000,
    refreshPollMs: 3_600_000,
    alertPollMs: 3_600_000,
    rollupPollMs: 3_600_000,
    secretPollMs: 3_600_000,
    reconcilePollMs: 3_600_000,
    upkeepPollMs: 3_600_000,
    ...parts,
    logger,
    secretValues,
  });
  return {
    ...running,
    target,
    lines,
    send: (event, sending) => send(running.publicOrigin, event, sending),
    admin: (path, init) => admin(running.adminOrigin, path, init),
    count: (table, where) => countOf(target, table, where),
  };
}

/** Lends a receiver on a fresh database. */
export function withReceiver<T>(
  dialect: Dialect,
  use: (receiver: TestReceiver) => Promise<T>,
  options: ReceiverOptions = {},
): Promise<T> {
  return withMigrated(dialect, async (target) => {
    const receiver = await startReceiver(target, options);
    try {
      return await use(receiver);
    } finally {
      await receiver.stop();
    }
  });
}

let events = 0;

/** A valid event of a type, with an id of its own. */
export function event(type: string, data: object, over: object = {}): Record<string, unknown> & { event_id: string } {
  events += 1;
  return {
    event_id: `evt-${events}`,
    event_type: type,
    timestamp: Math.floor(Date.now() / 1000),
    data,
    ...over,
  };
}

export const payment = (over: object = {}, data: object = {}) =>
  event("payment_notify", { order_id: "o1", amount: 10, ...data }, over);

async function send(origin: string, sent: object, sending: Sending = {}): Promise<CallbackResponse> {
  const { path = "/api/platform/callback", headers, secret = SECRET, raw } = sending;
  const { event_type } = sent as { event_type?: unknown };
  const type = typeof event_type === "string" ? event_type : undefined;
  const body = Buffer.from(raw ?? JSON.stringify(sent));
  return postCallback(origin + path, secret, { body, type, headers });
}

async function admin(origin: string, path: string, init: RequestInit = {}): Promise<CallbackResponse> {
  const response = await fetch(origin + path, {
    ...init,
    headers: { authorization: `Bearer ${TOKEN}`, ...init.headers },
  });
  return toCallbackResponse(response);
}
