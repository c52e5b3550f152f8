import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/index.ts";
import {
  type ConfiguredSource,
  configuredSources,
  type Loaded,
  maskOf,
  type OpenForCommand,
} from "../configured/index.ts";
import { type CallbackLogEntry, type Clock, type FailureState, UNKNOWN_REQUEST } from "../domain/index.ts";
import type { CallbackLog, Mask, Metrics } from "../observability/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import { MaintenanceError, type Store } from "../store/index.ts";
import { systemClock } from "../system/index.ts";
import { earliestTime, type ScheduledSource } from "./reconcile-poller.ts";
import {
  type ReconcileDependencies,
  type ReconciledEvent,
  type ReconciledSource,
  type ReconcileRun,
  reconcileWindow,
} from "./reconcile-window.ts";

/** Undefined for a source whose definition has no `reconcile`. */
function reconciledSource(
  { name, definition }: ConfiguredSource,
  { basePath, baseUrl }: Config,
  clock: Clock,
): ReconciledSource | undefined {
  const { reconcile: api, settings } = definition;
  if (api === undefined) return undefined;
  const environment = { name, clock, origin: () => new URL(baseUrl).origin };
  return {
    name,
    path: `${basePath}${settings.path ?? `/api/${name}/callback`}`,
    contract: definition.createContract(environment),
    api,
  };
}

interface ReconcileServices {
  readonly receiver: Receiver;
  readonly metrics: Metrics;
  readonly mask: Mask;
  readonly callbackLog: CallbackLog;
  readonly configured: readonly ConfiguredSource[];
}

/** The sources that a receiver asks for missing events by itself. */
export function scheduledSources(config: Config, services: ReconcileServices): ScheduledSource[] {
  const { receiver, metrics, mask, callbackLog, configured } = services;
  const { store, registry, encryptor, clock, log } = receiver;
  return configured.flatMap((one) => {
    const source = reconciledSource(one, config, clock);
    if (source?.api.everyMs === undefined) return [];
    const onEvent = (event: ReconciledEvent) => {
      metrics.reconciled(source.name, event.outcome);
      const fields = {
        source: source.name,
        event_id: event.id,
        event_type: event.type,
        reason: event.reason,
      };
      if (event.outcome === "failed") log.warn(fields, "a missing event could not be accepted");
      const entry = entryOf(event, source, mask, clock);
      if (entry === undefined) return;
      callbackLog.writeLine(entry, { isJson: true });
      callbackLog.addEntry(entry);
    };
    const ended = (outcome: string) => metrics.reconcileRun(source.name, outcome);
    const wake = () => receiver.events.emit("accepted");
    const { recordDays } = config.retention;
    return { source, store, registry, encryptor, clock, log, onEvent, ended, wake, recordDays };
  });
}

/** The row of the callback log: it says where the event came from. Undefined for one that was not accepted. */
function entryOf(
  { id, type, callback }: ReconciledEvent,
  { name, api }: ReconciledSource,
  mask: Mask,
  clock: Clock,
): CallbackLogEntry | undefined {
  if (callback === undefined) return undefined;
  return {
    ...UNKNOWN_REQUEST,
    requestId: randomUUID(),
    receivedAt: clock.now().toISOString(),
    source: name,
    eventId: id,
    eventType: type,
    method: "RECONCILE",
    url: mask.url(api.address),
    requestHeaders: JSON.stringify(mask.headers(callback.headers)),
    requestBody: mask.body(callback.body, { isJson: true }),
    outcome: "accepted",
    responseStatus: 200,
    error: null,
  };
}

export interface ReconcileRequest {
  /** The source's name in the configuration. */
  readonly source: string;
  /** The age of the oldest events to ask for, in milliseconds. */
  readonly sinceMs: number;
  readonly isDryRun: boolean;
  /** The age of the newest ones, in milliseconds. */
  readonly untilMs: number;
  readonly maxPages: number;
  /** The time for the receiver to run the accepted events. */
  readonly waitMs: number;
}

type ShownEvent = Omit<ReconciledEvent, "callback">;
/** The state of an accepted event: handled, or its state among the failures. */
export type FollowedState = "handled" | FailureState;

export type ReconcileReport = Awaited<ReturnType<typeof reconcileSource>>;

/**
 * Reconciles a source once, beside a receiver or without one; it runs no handler.
 * @throws MaintenanceError for a source that cannot be asked, StartError for a database that cannot be opened
 */
export async function reconcileSource(loaded: Loaded, request: ReconcileRequest, open: OpenForCommand) {
  const { config } = loaded;
  const clock = systemClock;
  const configured = await configuredSources(config);
  const source = sourceNamed(request.source, configured, config);
  const now = clock.now().getTime();
  const earliest = earliestTime(source, config.retention.recordDays, now);
  const window = { from: new Date(Math.max(now - request.sinceMs, earliest)), to: new Date(now - request.untilMs) };
  const options = { changesNothing: request.isDryRun };
  const { store, registry, encryptor } = await open(loaded, options, configured);
  try {
    const events: ShownEvent[] = [];
    const entries: CallbackLogEntry[] = [];
    const counts = { missing: 0, accepted: 0, already_received: 0, ignored: 0, failed: 0 };
    const mask = maskOf(config, { configured });
    const onEvent = (event: ReconciledEvent) => {
      counts[event.outcome] += 1;
      if (!["missing", "accepted", "failed"].includes(event.outcome)) return;
      const { callback: _, ...shown } = event;
      events.push(shown);
      const entry = entryOf(event, source, mask, clock);
      if (entry !== undefined) entries.push(entry);
    };
    const flush = async () => {
      const rows = entries.splice(0);
      if (rows.length > 0) await store.appendCallbacks(rows);
    };
    const deps = { source, store, registry, encryptor, clock, onEvent };
    const stoppedBy = await stopReason(request, window, deps, flush);
    const followed = await follow(store, source.name, events, request.waitMs);
    return {
      source: source.name,
      from: window.from.toISOString(),
      to: window.to.toISOString(),
      counts,
      /** Whether the platform was asked for all of the window. */
      isComplete: stoppedBy === undefined,
      /** The reason, where it was not. */
      ...(stoppedBy !== undefined && { stoppedBy }),
      /** Those that never arrived, and those that could not be accepted. */
      events: followed,
    };
  } finally {
    await store.close();
  }
}

function sourceNamed(name: string, configured: readonly ConfiguredSource[], config: Config): ReconciledSource {
  const found = configured.find((one) => one.name === name);
  const source = found && reconciledSource(found, config, systemClock);
  if (source !== undefined) return source;
  const able = configured.filter(({ definition }) => definition.reconcile !== undefined).map((one) => one.name);
  const others = able.length === 0 ? "no source has it" : `these have it: ${able.join(", ")}`;
  throw new MaintenanceError(
    found === undefined
      ? `there is no source ${JSON.stringify(name)} with \`reconcile\` in oncehook.config.ts; ${others}`
      : `the source ${name} has no \`reconcile\` in oncehook.config.ts, or its platform lists no events; ${others}: docs/reconcile.md`,
  );
}

/** The reason why a part of the window was not read. Events that were accepted before stay, and are reported. */
async function stopReason(
  { isDryRun, maxPages }: ReconcileRequest,
  window: ReconcileRun["window"],
  deps: ReconcileDependencies,
  flush: () => Promise<void>,
): Promise<string | undefined> {
  const { signal } = new AbortController();
  try {
    const run = { window, isDryRun, maxPages, signal, afterEvent: flush };
    const { next } = await reconcileWindow(run, deps);
    return next === undefined ? undefined : `${maxPages} pages were read; older events were not checked`;
  } catch (error) {
    await flush().catch(() => {});
    return error instanceof Error ? error.message : String(error);
  }
}

const FOLLOW_EVERY_MS = 250;
const LOOK_UP_MS = 5_000;

/** Waits until each accepted event was run, or the time is over. */
async function follow(store: Store, source: string, events: readonly ShownEvent[], waitMs: number) {
  const states = new Map<string, FollowedState>();
  const accepted = events.filter(({ outcome }) => outcome === "accepted");
  const endsAt = performance.now() + waitMs;
  for (;;) {
    for (const { id } of accepted)
      if ((states.get(id) ?? "accepted") === "accepted") states.set(id, await stateOf(store, source, id));
    const isOver = accepted.every(({ id }) => states.get(id) !== "accepted");
    if (isOver || performance.now() >= endsAt) break;
    await sleep(FOLLOW_EVERY_MS);
  }
  return events.map((event): ShownEvent & { readonly state?: FollowedState } => {
    const state = event.outcome === "accepted" ? states.get(event.id) : undefined;
    return state === undefined ? event : { ...event, state };
  });
}

async function stateOf(store: Store, source: string, eventId: string): Promise<FollowedState> {
  const record = await store.find({ source, eventId }, performance.now() + LOOK_UP_MS);
  if (record !== undefined) return "handled";
  // Without a row it was handled, or was one with an event under another id.
  return (await store.failures.get({ source, eventId }))?.state ?? "handled";
}
