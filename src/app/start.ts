import type { FastifyInstance } from "fastify";
import { type AdminDeps, createAdminListener, createTokenCheck } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import { type Clock, systemClock } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { reloadOnChange } from "../http/index.ts";
import { createExchange, createUserTokens, type KeptTokens } from "../oauth/index.ts";
import type { Logger } from "../observe/index.ts";
import { LATE_WORK_MS } from "../receive/index.ts";
import { discard, rehearse, replay } from "../retry/index.ts";
import { createSealer } from "../seal/index.ts";
import type { Migration, Store } from "../store/index.ts";
import { adminAccess, ownVersion } from "./access.ts";
import { createAdminConnections } from "./admin-connections.ts";
import { assemble, type Inner } from "./assemble.ts";
import { createBackground, type Polling } from "./background.ts";
import { destinationsOf, notificationChannels } from "./channels.ts";
import { type ConfiguredSecret, configuredSecrets, createCredentialNotes } from "./credential-uses.ts";
import { diagnosisSecrets } from "./diagnosis-secrets.ts";
import { configuredHandlers, migrationsOf } from "./handlers.ts";
import { leaseTiming } from "./lease-timing.ts";
import { listen } from "./listen.ts";
import { openStore } from "./open-store.ts";
import { originOf } from "./origin.ts";
import { configuredPlatform } from "./platform.ts";
import { platformScheme } from "./platform-scheme.ts";
import { publicListener } from "./public.ts";
import { startResealing } from "./reseal.ts";
import { startRetentionJob } from "./retention-job.ts";
import { createSandbox, type OwnOrigins } from "./sandbox.ts";
import { createSources } from "./sources.ts";
import { closeListener, type Step, stopAll } from "./stop.ts";
import { tlsPair } from "./tls-pair.ts";
import { startTracing } from "./tracing.ts";
import { warn } from "./warn.ts";

/** What a receiver is made of besides its configuration. */
export interface Parts extends Polling {
  readonly handlers?: readonly Handler[];
  readonly migrations?: readonly Migration[];
  readonly clock?: Clock;
  readonly logger: Logger;
}

/** A receiver that serves. */
export interface Running {
  /** Where the public listener can be reached from this machine, without the base path. */
  readonly publicOrigin: string;
  readonly adminOrigin: string;
  /** Resolves, with the reason, when only a new process can go on: then stop this one and end. See `Store.broken`. */
  readonly broken: Promise<Error>;
  /** Drains: accepts nothing new, finishes what it has, closes the store. Callable more than once. */
  stop(): Promise<void>;
}

/** A receiver into which a test can look. */
export interface Inspectable extends Running {
  readonly store: Store;
  /** Does what is due by the clock now, once, and resolves when it has ended: retries, deliveries, tokens. */
  runDue(): Promise<void>;
}

/**
 * Starts a receiver: store, listeners, retry loop and retention job. When a step fails, the ones before it are
 * undone.
 * @throws ConfigError for a file that cannot be used, MigrationRefused, or StartRefused
 */
export async function start(config: Config, parts: Parts): Promise<Running> {
  return startInspectable(config, parts);
}

/** An error that a handler's helpers threw shows the handler too: Node keeps ten frames unless it is told otherwise. */
const STACK_FRAMES = 25;

/** The same, for `testing/`. @throws as `start` does */
export async function startInspectable(config: Config, parts: Parts): Promise<Inspectable> {
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, STACK_FRAMES);
  const undo: Step[] = [];
  try {
    return await startSteps(config, parts, undo);
  } catch (error) {
    await stopAll(undo);
    throw error;
  }
}

async function startSteps(config: Config, parts: Parts, undo: Step[]): Promise<Inspectable> {
  const { clock = systemClock } = parts;
  const { logger, tracer } = await startTracing(config, parts.logger, undo);
  const origins = { public: "", admin: "" };
  const sealer = createSealer(config.encryptionKey, config.previousEncryptionKeys);
  const platform = configuredPlatform(config, () => origins.admin);
  const { uri, isUriGiven } = config.redirect;
  const exchange = createExchange(platform, {
    redirectUri: isUriGiven ? uri : undefined,
    timeLimitMs: config.handlerTimeoutMs + LATE_WORK_MS,
    log: logger,
  });
  const registry = configuredHandlers(config, parts.handlers ?? [], exchange, sealer);
  const tls = await tlsPair(config);
  const scheme = await platformScheme(config, clock);
  const namedSecrets = await diagnosisSecrets(config);
  const channels = await notificationChannels(config, logger);
  const store = await openStore(config, migrationsOf(registry, parts.migrations ?? []), clock, logger);
  undo.push(() => store.close());
  await takeOver(store, config, clock);
  const tokens = createUserTokens({ store: store.userTokens, platform, sealer, clock, log: logger });
  const secrets = await configuredSecrets(config);
  const noteCredential = await createCredentialNotes(secrets, store, clock, logger);
  const given = { config, store, registry, sealer, scheme, noteCredential, tokens, clock, logger, tracer };
  const inner = assemble({ ...given, namedSecrets });
  undo.push(
    () => inner.callbackLog.close(),
    async () => inner.hearing?.close(),
    async () => inner.metrics.close(),
  );

  const destinations = destinationsOf(config);
  await warn(config, store, registry, destinations, logger);
  const state = { serving: false };
  const tokenUse = tokenUseOf(config, inner);
  const adminConnections = createAdminConnections(logger);
  undo.push(async () => adminConnections.close());
  const adminParts = { ...inner, ...tokenUse, secrets, guard: adminConnections.guard };
  const admin = await adminListener(config, adminParts, tokens, destinations, state, origins);
  undo.push(() => closeListener({ server: admin.server, close: () => admin.close() }));
  await listen(admin, config.admin, "ADMIN_");
  origins.admin = originOf(admin, "http");

  const background = createBackground(config, inner, tokens, channels);
  undo.push(() => background.stop());
  const listener = publicListener(config, tls, { platform, ...tokenUse }, inner);
  undo.push(() => closeListener(listener));
  await listen(listener, config.listen, "");
  origins.public = originOf(listener, tls === null ? "http" : "https");
  await store.noteBaseUrl(config.baseUrl);
  background.start(parts);
  undo.push(startRetentionJob(store, config.retention, clock, logger, inner.hearing));
  if (config.previousEncryptionKeys.length > 0)
    undo.push(startResealing(store.sealedValues, sealer, logger, parts.resealPollMs));
  if (config.listen.tls !== undefined) {
    const stopLooking = reloadOnChange(config.listen.tls, listener.server, logger);
    undo.push(async () => stopLooking());
  }
  state.serving = true;
  undo.push(async () => {
    state.serving = false;
  });
  const place = { publicOrigin: origins.public, adminOrigin: origins.admin, broken: store.broken };
  return running({ ...place, store, runDue: background.runDue }, undo);
}

/** An SQLite file has one receiver: whatever is leased was left by one that has ended. */
async function takeOver(store: Store, config: Config, clock: Clock): Promise<void> {
  await store.noteLongestRun(config.requestTimeoutMs);
  if (store.dialect === "sqlite") await store.expireLeases(clock.now());
}

function running(place: Omit<Inspectable, "stop">, undo: Step[]): Inspectable {
  let stopped: Promise<void> | undefined;
  return {
    ...place,
    stop() {
      stopped ??= stopAll(undo);
      return stopped;
    },
  };
}

/** The tokens of the admin API, and the one count of wrong ones. */
function tokenUseOf(config: Config, { receiver }: Inner): Pick<AdminDeps, "access" | "tokenCheck"> {
  const access = adminAccess(config, receiver.sealer, receiver.clock);
  return { access, tokenCheck: createTokenCheck({ access, ...receiver }) };
}

async function adminListener(
  config: Config,
  inner: Inner &
    Pick<AdminDeps, "access" | "tokenCheck" | "guard"> & { readonly secrets: readonly ConfiguredSecret[] },
  tokens: KeptTokens,
  destinations: readonly string[],
  state: { readonly serving: boolean },
  origins: OwnOrigins,
): Promise<FastifyInstance> {
  const { receiver, metrics, callbackLog, describe, mask, access, tokenCheck, guard } = inner;
  const timing = leaseTiming(config);
  return createAdminListener({
    guard,
    access,
    tokenCheck,
    about: { environment: config.environment, version: await ownVersion() },
    store: receiver.store,
    metrics,
    callbackLog,
    destinations,
    clock: receiver.clock,
    log: receiver.log,
    describe,
    mask,
    replay: (key) => replay(key, timing, receiver),
    rehearse: (key) => rehearse(key, timing, receiver),
    revoke: tokens.revoke,
    discard: (key) => discard(key, timing, receiver),
    countNow: inner.rollups.writeDown,
    isServing: () => state.serving,
    sources: createSources(config, inner, inner.secrets, origins),
    sandbox: createSandbox(config, inner, origins),
  });
}
