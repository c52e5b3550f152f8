import { z } from "zod";
import { createServices } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/index.ts";
import { masksOf } from "../../src/configured/index.ts";
import { createRegistry } from "../../src/handlers/index.ts";
import { defineHandler } from "../../src/index.ts";
import { type Receiver, runEvent } from "../../src/pipeline/index.ts";
import { storeFailure } from "../../src/pipeline/store-failure.ts";
import { createRetryPoller } from "../../src/retry/index.ts";
import { createHmacScheme, platformHmac } from "../../src/sources/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createEncryptor } from "../../src/system/encryption.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { committing, newRecord } from "./effects.ts";
import { execute } from "./execute.ts";
import { runOnce } from "./once.ts";
import type { Target } from "./open-target.ts";

export const T0 = Date.parse("2026-01-01T00:00:00Z");
export const TIMING = { timeLimitMs: 5_000, leaseMs: 30_000 };
const ENVIRONMENT = {
  APP_ENV: "test",
  SIGNING_SECRET: "a-secret-of-some-length",
  ADMIN_TOKEN: "an-admin-token-long-enough",
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
};
export const CONFIG = loadConfig(ENVIRONMENT);
export const NO_RETRIES = loadConfig({ ...ENVIRONMENT, RETRY_MAX: "0" });

/** The inner rooms on a store, with a time of day that only the test moves. */
export function rooms(
  store: Store,
  failing: { times: number },
  inRetry: (eventId: string) => Promise<void> = async () => {},
  config = CONFIG,
) {
  const time = { seconds: 0 };
  const clock = { now: () => new Date(T0 + time.seconds * 1000) };
  const handler = defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle({ attempt, event }) {
      if (attempt !== "inline") await inRetry(event.event_id);
      failing.times -= 1;
      if (failing.times >= 0) throw new Error("down");
      return { attempt };
    },
  });
  const { logger, lines } = capturedLog(config);
  const registry = createRegistry([], [handler]);
  const encryptor = createEncryptor(config.encryptionKey);
  const scheme = createHmacScheme(platformHmac(null), { secrets: ["unused"], clock });
  const tokens = { for: () => Promise.reject(new Error("no user has authorized us")) };
  const { receiver: configured } = createServices({
    config,
    configured: [],
    ...masksOf(config, { configured: [] }),
    store,
    registry,
    encryptor,
    scheme,
    noteCredential: () => undefined,
    tokens,
    clock,
    logger,
    tracer: undefined,
  });
  const receiver = withTiming(configured, TIMING);
  return { time, lines, receiver, loop: () => createRetryPoller(receiver) };
}

/** The same receiver with other times for retries. */
function withTiming(receiver: Receiver, timing: Partial<typeof TIMING>): Receiver {
  const { settings } = receiver;
  return { ...receiver, settings: { ...settings, retry: { ...settings.retry, ...timing } } };
}

export const withLease = (receiver: Receiver, leaseMs: number) => withTiming(receiver, { leaseMs });

export function inputOf(eventId: string) {
  const json = { event_id: eventId, event_type: "unreliable", timestamp: 1, data: {} };
  return {
    key: { source: "platform", eventId },
    content: { json, body: Buffer.from(JSON.stringify(json)), bodySha256: "a".repeat(64) },
    version: "v1",
    eventType: "unreliable",
    deadline: performance.now() + 5_000,
    kind: "inline",
    mode: "commit",
  } as const;
}

/** Runs the event once in its callback, where it must fail, and keeps the failure. */
export async function failInline({ receiver }: ReturnType<typeof rooms>, eventId = "e1"): Promise<void> {
  const input = inputOf(eventId);
  const outcome = await runEvent(input, receiver);
  if (outcome.kind !== "failed") throw new Error("the inline attempt should have failed");
  await storeFailure(input, outcome, receiver);
}

/** Another process completes the failed event, and this one sees the failure all the same, as if it had looked before. */
export async function completeElsewhere(store: Store, target: Target, eventId = "e1"): Promise<void> {
  const columns =
    "source, event_id, event_type, version, state, attempts, retries_done, code, error, encrypted_body, body_sha256, first_failed_at, last_failed_at, next_attempt_at";
  await execute(target, "CREATE TABLE kept AS SELECT * FROM oncehook_failures");
  await runOnce(store, newRecord(eventId, { eventType: "unreliable" }), async () => ({ result: {} }), committing());
  await execute(
    target,
    `INSERT INTO oncehook_failures (${columns}) SELECT ${columns} FROM kept WHERE event_id = '${eventId}'`,
  );
}
