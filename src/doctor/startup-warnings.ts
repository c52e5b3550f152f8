import type { Config } from "../config/index.ts";
import {
  type ConfiguredSource,
  SIGNED_IN,
  unhandledSignIn,
  unsignedBodyWarning,
  WITHOUT_PLATFORM,
} from "../configured/index.ts";
import { type Log, PLATFORM, sourceOf, type Version } from "../domain/index.ts";
import { createRegistry, type Handler, type Registry } from "../handlers/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import { type Failures, STORED_EVENTS, type Store, type StoredType } from "../store/index.ts";
import { slowHandlerTexts } from "../upkeep/index.ts";
import { sourceWarnings } from "./check-sources.ts";
import { undocumentedTypeWarnings } from "./documented-types.ts";

export async function logStartupWarnings(
  config: Config,
  { receiver, configured }: { receiver: Receiver; configured: readonly ConfiguredSource[] },
  destinations: readonly string[],
  log: Log,
): Promise<void> {
  const { store, registry, clock } = receiver;
  if (!config.servesPlatform) log.info({ sources: configured.map(({ name }) => name) }, WITHOUT_PLATFORM);
  const failed = (types: string) => (err: unknown) => log.warn({ err }, `reading the types of ${types} events failed`);
  await warnUnhandled(store.failures, registry, log).catch(failed("waiting"));
  await warnStored(store, registry, log).catch(failed("stored"));
  const signIn = unhandledSignIn(config.oauth === null || registry.find(PLATFORM, "v1", SIGNED_IN) !== undefined);
  const warnings = [
    ...config.warnings,
    unsignedBodyWarning(config),
    signIn && `OAUTH_* variables are set, but ${signIn}`,
    ...sourceWarnings(config, configured),
    ...(await undocumentedTypeWarnings(configured, registry.handlers)),
    ...(store.dialect === "sqlite" ? slowHandlerTexts(await store.settings.slowHandlers(), clock.now()) : []),
    ...unconfiguredChannelWarnings(await store.outbox.waitingByChannel(), destinations),
  ];
  for (const warning of warnings) if (warning !== undefined) log.warn({}, warning);
}

/**
 * Logs the types of waiting events that have no handler. A handler was removed, or another configuration accepted them.
 * They would otherwise wait in silence.
 */
async function warnUnhandled(failures: Failures, registry: Registry, log: Log): Promise<void> {
  const waiting = await failures.waitingTypes();
  const types = waiting
    .filter(({ source, version, eventType }) => registry.find(source, version as Version, eventType) === undefined)
    .map(({ eventType, version, count }) => `${eventType} (${version}): ${count}`);
  if (types.length > 0)
    log.warn(
      { types },
      "events wait for a retry without a handler for their types: configure the " +
        "handlers (HANDLERS, oncehook.config.ts), or discard the events",
    );
}

/** Logs how many stored events of a type have a handler by now, which only a backfill hands them to. */
async function warnStored({ storedEvents }: Store, registry: Registry, log: Log): Promise<void> {
  const handlers = registry.handlers.filter(
    ({ source, migrations }) => source !== PLATFORM && !migrations.some(({ name }) => name === STORED_EVENTS),
  );
  const waiting = await storedEvents.waiting(handlers.map(({ name }) => name));
  for (const { message, source, type, count } of storedEventWarnings(waiting, handlers))
    log.warn({ source, event_type: type, count }, message);
}

/** For the start and for doctor. */
export function storedEventWarnings(waiting: readonly StoredType[], handlers: readonly Handler[]) {
  const { find } = createRegistry([], handlers);
  const runnable = waiting.filter(({ source, type }) => find(source, "v1", type) !== undefined);
  return runnable.map((stored) => {
    const { source, type, count } = stored;
    const remedy = `oncehook backfill ${sourceOf(stored)} --type ${type}`;
    const message = `stored events of ${source} ${type} have a handler and have not run (${count}): ${remedy}`;
    return { ...stored, message };
  });
}

/** Channels with waiting deliveries that are no longer configured. @returns a sentence for each */
export function unconfiguredChannelWarnings(waiting: ReadonlyMap<string, number>, destinations: readonly string[]) {
  return [...waiting]
    .filter(([channel]) => !destinations.includes(channel))
    .map(
      ([channel, count]) =>
        `${count === 1 ? "1 notification waits" : `${count} notifications wait`} for the channel ${channel}, which is ` +
        "not configured: configure it again, or discard them (DELETE /api/v1/notifications/:id?channel=…)",
    );
}
