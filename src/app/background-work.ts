import type { BackgroundName, BackgroundRounds } from "../admin/index.ts";
import { createAlertPoller } from "../alerts/index.ts";
import type { Config } from "../config/index.ts";
import { callOnce } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import type { RenewableTokens } from "../oauth/index.ts";
import { type Channel, createOutboxPoller } from "../outbox/index.ts";
import { createReconcilePoller, scheduledSources } from "../reconcile/index.ts";
import {
  createAcceptedPoller,
  createBackfillPoller,
  createBulkReplayPoller,
  createRetryPoller,
} from "../retry/index.ts";
import { createPoller, type PollerRounds } from "../system/index.ts";
import { createOriginalMerger, createValueIndexer } from "../upkeep/index.ts";
import type { Services } from "./services.ts";

/** How often the loops look for work, in milliseconds. */
export const POLL_INTERVALS = {
  retryPollMs: 1_000,
  bulkPollMs: 1_000,
  backfillPollMs: 1_000,
  outboxPollMs: 1_000,
  refreshPollMs: 10_000,
  resealPollMs: 3_600_000,
  alertPollMs: 30_000,
  rollupPollMs: 5_000,
  secretPollMs: 5_000,
  reconcilePollMs: 30_000,
  upkeepPollMs: 5_000,
};
export type PollIntervals = Partial<Readonly<typeof POLL_INTERVALS>>;

const NEVER = new AbortController().signal;

/** Periodic work, by the name that the admin API has for it. */
export interface NamedLoop {
  readonly rounds: () => PollerRounds;
  readonly stop: () => Promise<unknown>;
}

export function createBackgroundWork(config: Config, services: Services, tokens: RenewableTokens, parts: LoopParts) {
  const { rollups } = services;
  const { accepted, retries, bulkReplays, backfills, outbox, ...others } = createLoops(config, services, tokens, parts);
  const { reconciliation, tokenRefresh, valueIndex, originals } = others;
  const kinds = new Set(config.alerts.kinds);
  const alerts = alertPoller(config, services, kinds);
  const upkeep = [valueIndex, originals];
  const loops: [BackgroundName, NamedLoop][] = [
    ["accepted_events", accepted],
    ["retries", retries],
    ["notifications", outbox],
    ["bulk_replays", bulkReplays],
    ["backfills", backfills],
    ["reconciliation", reconciliation],
    ["token_refresh", tokenRefresh],
    ["value_index", valueIndex],
    ["originals", originals],
  ];
  const stops: (() => Promise<unknown>)[] = [];
  const stopPollers = callOnce(() =>
    Promise.all([...loops.map(([, loop]) => loop.stop()), ...stops.map((stop) => stop())]),
  );
  return {
    /** Further stops beside those of the loops; more may be added before the stop. */
    stops,
    /** One more that stops with the others. */
    add(name: BackgroundName, loop: NamedLoop): void {
      loops.push([name, loop]);
    },
    /** The rounds of all work beside the callbacks, by name. */
    rounds(): readonly BackgroundRounds[] {
      const all = [...loops, ["alerts", alerts] as const, ["rollups", rollups] as const];
      return all.map(([name, loop]) => ({ name, ...loop.rounds() }));
    },
    start(intervals: PollIntervals): void {
      const ms = { ...POLL_INTERVALS, ...intervals };
      rollups.start(ms.rollupPollMs);
      accepted.start(ms.retryPollMs);
      retries.start(ms.retryPollMs);
      bulkReplays.start(ms.bulkPollMs);
      backfills.start(ms.backfillPollMs);
      outbox.start(ms.outboxPollMs);
      tokenRefresh.start(ms.refreshPollMs);
      reconciliation.start(ms.reconcilePollMs);
      for (const loop of upkeep) loop.start(ms.upkeepPollMs);
      if (kinds.size > 0) alerts.start(ms.alertPollMs);
    },
    /**
     * Does what is due now: accepted events and retries, then deliveries and tokens.
     * @param signal starts nothing more once it has aborted
     * @returns how many events ran, once all has ended
     */
    async runDue(signal: AbortSignal = NEVER): Promise<number> {
      let ran = 0;
      for (let more = 1; more > 0 && !signal.aborted; ran += more)
        more = (await accepted.round(signal)) + (await retries.round(signal));
      await Promise.all([outbox.round(() => signal.aborted), tokens.refreshDue(() => signal.aborted)]);
      return ran;
    },
    /** Bulk replays, events that never arrived, alerts, and the upkeep of what came. */
    async runRest(signal: AbortSignal): Promise<void> {
      await bulkReplays.round(signal);
      if (!signal.aborted) await backfills.round(signal);
      if (!signal.aborted) await reconciliation.round(signal);
      if (!signal.aborted && kinds.size > 0) await alerts.roundWithin(POLL_INTERVALS.alertPollMs);
      for (const { round } of upkeep) if (!signal.aborted) await round(() => signal.aborted);
    },
    /** From here on no poller begins a round: what it took on late in a drain would be cut off. */
    beginStop(): void {
      stopPollers().catch(() => {});
    },
    /** Resolves when the rounds under way have ended. Rollups and alerts stop here: they store counts of the last callbacks. */
    async stop(): Promise<void> {
      await Promise.all([stopPollers(), rollups.stop(), alerts.stop()]);
    },
  };
}

interface LoopParts {
  readonly channels: readonly Channel[];
  readonly userHandlers: Registry;
}

function createLoops(
  config: Config,
  services: Services,
  tokens: RenewableTokens,
  { channels, userHandlers }: LoopParts,
) {
  const { receiver, metrics } = services;
  const { store, clock, log } = receiver;
  const beside = { ...receiver, activeCallbacks: () => receiver.concurrency.active };
  return {
    accepted: createAcceptedPoller(receiver),
    retries: createRetryPoller(receiver),
    bulkReplays: createBulkReplayPoller(receiver),
    backfills: createBackfillPoller(receiver, userHandlers),
    outbox: createOutboxPoller({
      outbox: store.outbox,
      deliveries: store.notificationDeliveries,
      channels,
      policy: config.notifications.policy,
      clock,
      log,
      tracer: receiver.tracer,
      describe: receiver.describeError,
      attempted: metrics.delivery,
    }),
    reconciliation: createReconcilePoller(scheduledSources(config, services)),
    tokenRefresh: createPoller(tokens.refreshDue, (error) =>
      log.error({ err: error }, "reading tokens that expire soon failed"),
    ),
    valueIndex: createValueIndexer(beside),
    originals: createOriginalMerger(beside),
  };
}

function alertPoller(
  { alerts }: Config,
  { receiver, arrivals }: Services,
  kinds: Set<Config["alerts"]["kinds"][number]>,
) {
  const { store, clock, log } = receiver;
  const types = new Set(receiver.registry.types);
  const { silenceFloor, acceptedSeconds } = alerts;
  return createAlertPoller({
    ...{ store: store.alerts, refusedSources: store.refusedSources, arrivals, kinds, silenceFloor, clock, log },
    acceptedLimitMs: acceptedSeconds * 1_000,
    isHandled: (type) => types.has(type),
  });
}
