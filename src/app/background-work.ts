import { createAlertPoller } from "../alerts/index.ts";
import type { Config } from "../config/index.ts";
import type { RenewableTokens } from "../oauth/index.ts";
import { type Channel, createOutboxPoller } from "../outbox/index.ts";
import { createPoller, type Poller } from "../poller/index.ts";
import { createBulkReplayPoller, createRetryPoller } from "../retry/index.ts";
import type { Services } from "./services.ts";

/** How often the loops look for work, in milliseconds. */
export interface PollIntervals {
  readonly retryPollMs?: number;
  readonly bulkPollMs?: number;
  readonly outboxPollMs?: number;
  readonly refreshPollMs?: number;
  readonly resealPollMs?: number;
  readonly alertPollMs?: number;
  readonly rollupPollMs?: number;
}

export interface BackgroundWork {
  start(polling: PollIntervals): void;
  /** Does what is due now, once, and resolves when it has ended: retries, then deliveries and tokens. */
  runDue(): Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 1_000;
const REFRESH_POLL_MS = 10_000;
const ALERT_POLL_MS = 60_000;
const ROLLUP_POLL_MS = 5_000;

export function createBackgroundWork(
  config: Config,
  { receiver, metrics, describeError, arrivals, rollups }: Services,
  tokens: RenewableTokens,
  channels: readonly Channel[],
): BackgroundWork {
  const { store, clock, log } = receiver;
  const timing = leaseTiming(config);
  const retries = createRetryPoller(receiver, timing);
  const bulkReplays = createBulkReplayPoller(receiver, timing);
  const outbox = createOutboxPoller({
    outbox: store.outbox,
    deliveries: store.deliveries,
    channels,
    policy: config.notifications.policy,
    clock,
    log,
    tracer: receiver.tracer,
    describe: describeError,
    attempted: metrics.delivery,
  });
  const tokenRefresh = createPoller(tokens.refreshDue, (error) =>
    log.error({ err: error }, "reading tokens that expire soon failed"),
  );
  const kinds = new Set(config.alerts.kinds);
  const types = new Set(receiver.registry.types);
  const alerts = createAlertPoller({
    store: store.alerts,
    arrivals,
    kinds,
    silenceFloor: config.alerts.silenceFloor,
    isHandled: (type) => types.has(type),
    clock,
    log,
  });
  const alerting = kinds.size === 0 ? [] : [alerts];
  const pollers: readonly Poller[] = [retries, bulkReplays, outbox, tokenRefresh, ...alerting];
  return {
    start({ retryPollMs = POLL_MS, outboxPollMs = POLL_MS, ...others }) {
      const { bulkPollMs = POLL_MS, refreshPollMs = REFRESH_POLL_MS, alertPollMs = ALERT_POLL_MS } = others;
      rollups.start(others.rollupPollMs ?? ROLLUP_POLL_MS);
      retries.start(retryPollMs);
      bulkReplays.start(bulkPollMs);
      outbox.start(outboxPollMs);
      tokenRefresh.start(refreshPollMs);
      if (kinds.size > 0) alerts.start(alertPollMs);
    },
    async runDue() {
      while ((await retries.round()) > 0);
      await Promise.all([outbox.round(), tokens.refreshDue(() => false)]);
    },
    async stop() {
      await Promise.all([...pollers, rollups].map((loop) => loop.stop()));
    },
  };
}

/** For storing how a run ended; short limits need no more than as long again. */
const MARGIN_MS = 10_000;

/** The longest run of an event: waiting for its turn, `prepare`, then `handle`. */
export function maxAttemptMs({ requestTimeoutMs, handlerTimeoutMs }: Config): number {
  return requestTimeoutMs + 2 * handlerTimeoutMs;
}

/** A lease outlives the longest run. */
export function leaseTiming(config: Config): { timeLimitMs: number; leaseMs: number } {
  const longest = maxAttemptMs(config);
  return { timeLimitMs: config.requestTimeoutMs, leaseMs: longest + Math.min(MARGIN_MS, longest) };
}
