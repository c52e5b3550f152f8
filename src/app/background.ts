import { createAlertLoop } from "../alert/index.ts";
import type { Config } from "../config/index.ts";
import { createLoop, type Loop } from "../loop/index.ts";
import type { KeptTokens } from "../oauth/index.ts";
import { type Channel, createOutboxLoop } from "../outbox/index.ts";
import { createBulkReplayLoop, createRetryLoop } from "../retry/index.ts";
import type { Inner } from "./assemble.ts";
import { leaseTiming } from "./lease-timing.ts";

/** How often the loops look for work, in milliseconds. */
export interface Polling {
  readonly retryPollMs?: number;
  readonly bulkPollMs?: number;
  readonly outboxPollMs?: number;
  readonly refreshPollMs?: number;
  readonly resealPollMs?: number;
  readonly alertPollMs?: number;
  readonly rollupPollMs?: number;
}

/** The work that goes on beside the listeners: retries, bulk replays, deliveries of notifications, tokens that expire soon. */
export interface Background {
  start(polling: Polling): void;
  /** Does what is due now, once, and resolves when it has ended: retries, then deliveries and tokens. */
  runDue(): Promise<void>;
  /** Begins nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

const POLL_MS = 1_000;
const REFRESH_POLL_MS = 10_000;
const ALERT_POLL_MS = 60_000;
const ROLLUP_POLL_MS = 5_000;

export function createBackground(
  config: Config,
  { receiver, metrics, describe, arrivals, rollups }: Inner,
  tokens: KeptTokens,
  channels: readonly Channel[],
): Background {
  const { store, clock, log } = receiver;
  const timing = leaseTiming(config);
  const retries = createRetryLoop(receiver, timing);
  const bulkReplays = createBulkReplayLoop(receiver, timing);
  const outbox = createOutboxLoop({
    outbox: store.outbox,
    channels,
    policy: config.notifications.policy,
    clock,
    log,
    tracer: receiver.tracer,
    describe,
    attempted: metrics.delivery,
  });
  const refreshing = createLoop(tokens.refreshDue, (error) =>
    log.error({ err: error }, "tokens that expire soon could not be looked up"),
  );
  const kinds = new Set(config.alerts.kinds);
  const types = new Set(receiver.registry.types);
  const alerts = createAlertLoop({
    store: store.alerts,
    arrivals,
    kinds,
    silenceFloor: config.alerts.silenceFloor,
    isHandled: (type) => types.has(type),
    clock,
    log,
  });
  const judging = kinds.size === 0 ? [] : [alerts];
  const loops: readonly Loop[] = [retries, bulkReplays, outbox, refreshing, ...judging];
  return {
    start({ retryPollMs = POLL_MS, outboxPollMs = POLL_MS, ...others }) {
      const { bulkPollMs = POLL_MS, refreshPollMs = REFRESH_POLL_MS, alertPollMs = ALERT_POLL_MS } = others;
      rollups.start(others.rollupPollMs ?? ROLLUP_POLL_MS);
      retries.start(retryPollMs);
      bulkReplays.start(bulkPollMs);
      outbox.start(outboxPollMs);
      refreshing.start(refreshPollMs);
      if (kinds.size > 0) alerts.start(alertPollMs);
    },
    async runDue() {
      while ((await retries.round()) > 0);
      await Promise.all([outbox.round(), tokens.refreshDue(() => false)]);
    },
    async stop() {
      await Promise.all([...loops, rollups].map((loop) => loop.stop()));
    },
  };
}
