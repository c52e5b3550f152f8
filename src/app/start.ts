import type { Server } from "node:http";
import { type AdminDependencies, createAdminListener, createTokenCheck } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import {
  type ConfiguredSource,
  configuredAuthorizationServer,
  configuredChannelNames,
  configuredHandlers,
  configuredSources,
  createPlatformScheme,
  maskOf,
  migrationsOf,
  notificationChannels,
} from "../configured/index.ts";
import {
  type ConfiguredSecret,
  configuredSecrets,
  createCredentialUseRecorder,
  createTenantUseRecorder,
  LearntSecrets,
  learntCredentials,
  type NoteCredential,
  readDiagnosisSecrets,
  secretFingerprint,
  startReencryption,
} from "../credentials/index.ts";
import type { CaptureBuffer } from "../dev/capture/index.ts";
import { logStartupWarnings } from "../doctor/index.ts";
import { type Clock, callOnce } from "../domain/index.ts";
import { type Handler, isRejected } from "../handlers/index.ts";
import { reloadOnChange, type TlsPair } from "../http/index.ts";
import { createCodeExchange, createUserTokens } from "../oauth/index.ts";
import { type Logger, withTraceIds } from "../observability/index.ts";
import { errorText, LATE_WORK_MS, type Receiver } from "../pipeline/index.ts";
import { discard, dryRunReplay, replay } from "../retry/index.ts";
import type { Migration, Store } from "../store/index.ts";
import { createEncryptor, type Encryptor, systemClock } from "../system/index.ts";
import { startRetentionJob } from "../upkeep/index.ts";
import { adminAccess, createAdminConnections, packageVersion } from "./admin-access.ts";
import { createBackgroundWork, POLL_INTERVALS, type PollIntervals } from "./background-work.ts";
import { closeListener, listen, originOf, stopAll, tlsPair, type UndoStep } from "./listeners.ts";
import { openStore } from "./open-store.ts";
import { publicListener } from "./public-listener.ts";
import { createSandbox } from "./sandbox.ts";
import { createServices, type Services } from "./services.ts";
import { createSources } from "./sources.ts";

export interface StartOptions extends PollIntervals {
  readonly handlers?: readonly Handler[];
  readonly migrations?: readonly Migration[];
  readonly clock?: Clock;
  readonly logger: Logger;
}

export interface RunningReceiver {
  /** Where the public listener can be reached from this machine, without the base path. */
  readonly publicOrigin: string;
  readonly adminOrigin: string;
  /** Resolves, with the reason, when only a new process can go on: then stop this one and end. See `Store.broken`. */
  readonly broken: Promise<Error>;
  /** Drains: accepts nothing new, finishes what it has, closes the store. Callable more than once. */
  stop(): Promise<void>;
}

export interface InspectableReceiver extends RunningReceiver {
  readonly receiver: Receiver;
  /** Does what is due by the clock now, once, and resolves when it has ended: retries, deliveries, tokens. */
  runDue(): Promise<void>;
}

/**
 * Starts a receiver: store, listeners, retry loop and retention job. When a step fails, the ones before it are
 * undone.
 * @throws ConfigError for a file that cannot be used, MigrationError, or StartError
 */
export const start: (config: Config, options: StartOptions) => Promise<RunningReceiver> =
  startInspectableReceiver;

/** The stack of an error from a handler's helpers must reach the handler: Node keeps only ten frames by default. */
const STACK_FRAMES = 25;

export async function startInspectableReceiver(
  config: Config,
  options: StartOptions,
): Promise<InspectableReceiver> {
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, STACK_FRAMES);
  const undo: UndoStep[] = [];
  try {
    const started = await startSteps(config, options, undo);
    return { ...started, stop: callOnce(() => stopAll(undo)) };
  } catch (error) {
    await stopAll(undo);
    throw error;
  }
}

async function startSteps(config: Config, options: StartOptions, undo: UndoStep[]) {
  const { clock = systemClock } = options;
  const { configured, mask, logger, tracer } = await startLogging(config, options.logger, undo);
  const origins = { public: "", admin: "" };
  const encryptor = createEncryptor(config.encryptionKey, config.previousEncryptionKeys);
  const platform = configuredAuthorizationServer(config, () => origins.admin);
  const exchange = createCodeExchange(platform, {
    redirectUri: config.redirect.isUriGiven ? config.redirect.uri : undefined,
    timeLimitMs: config.handlerTimeoutMs + LATE_WORK_MS,
    log: logger,
  });
  const registry = configuredHandlers(
    { config, handlers: options.handlers ?? [] },
    configured,
    exchange,
    encryptor,
  );
  const tls = await tlsPair(config);
  const scheme = await createPlatformScheme(config, clock);
  const namedSecrets = await readDiagnosisSecrets(config);
  const channels = await notificationChannels(config, logger, mask);
  const migrations = migrationsOf(registry, options.migrations ?? []);
  const store = await openOwnStore(config, migrations, clock, logger, undo);
  const common = { store, encryptor, clock, log: logger };
  const tokens = createUserTokens({ ...common, store: store.userTokens, platform });
  const captureBuffer = await openCaptureBuffer(config, common);
  const parts = { config, store, registry, encryptor, scheme };
  const { secrets, ...ofSources } = await openSources(config, configured, origins, common);
  const services = createServices({ ...parts, ...ofSources, tokens, clock, logger, tracer, namedSecrets });
  undo.push(
    () => services.callbackLog.close(),
    async () => captureBuffer?.close(),
    async () => services.metrics.close(),
    () => services.receiver.concurrency.outsideLimitEnded(),
  );

  await logStartupWarnings(config, services, configuredChannelNames(config), logger);
  let isServing = false;
  const own = { secrets, origins, revoke: tokens.revoke, isServing: () => isServing };
  const tokenCheck = await openAdmin(config, services, own, undo);

  const { runDue, ...background } = createBackgroundWork(config, services, tokens, channels);
  undo.push(() => background.stop());
  const listener = publicListener(config, tls, { platform, tokenCheck, captureBuffer }, services);
  undo.push(() => closeListener(listener));
  await listen(listener, config.listen, "");
  origins.public = originOf(listener, tls === null ? "http" : "https");
  await store.settings.noteBaseUrl(config.baseUrl);
  startUpkeep(config, services, { ...options, captureBuffer, tls, server: listener.server }, background);
  isServing = true;
  undo.push(async () => {
    isServing = false;
    background.beginStop();
  });
  const { receiver } = services;
  return { publicOrigin: origins.public, adminOrigin: origins.admin, broken: store.broken, receiver, runDue };
}

/** An SQLite file mostly has one receiver: its retries and deliveries wait for no lease that an ended one left. */
async function openOwnStore(
  config: Config,
  migrations: readonly Migration[],
  clock: Clock,
  logger: Logger,
  undo: UndoStep[],
): Promise<Store> {
  const store = await openStore(config, migrations, clock, logger);
  undo.push(() => store.close());
  await store.settings.noteLongestRun(config.requestTimeoutMs);
  if (store.dialect === "sqlite") await store.leases.expireAll(clock.now());
  return store;
}

/** Its code is loaded where callbacks are kept for listeners, and only there. */
async function openCaptureBuffer(
  config: Config,
  common: { store: Store; encryptor: Encryptor; clock: Clock; log: Logger },
): Promise<CaptureBuffer | null> {
  if (!config.captureEnabled) return null;
  const { createCaptureBuffer } = await import("../dev/capture/index.ts");
  return createCaptureBuffer({ ...common, store: common.store.captures });
}

/** The sources beside the platform, with the secrets that some of them have learnt. */
async function openSources(
  config: Config,
  configured: readonly ConfiguredSource[],
  origins: { readonly public: string },
  parts: Omit<ConstructorParameters<typeof LearntSecrets>[0], "fingerprint"> & { readonly store: Store },
) {
  const fingerprint = secretFingerprint(config);
  const learntSecrets = new LearntSecrets({
    ...parts,
    fingerprint: (source, secret) => fingerprint(`source:${source}`, secret),
  });
  await learntSecrets.begin(configured);
  const origin = () => (config.isBaseUrlGiven ? new URL(config.baseUrl).origin : origins.public);
  const known = await configuredSecrets(config, configured);
  const secrets = () => [...known, ...learntCredentials(configured, learntSecrets, fingerprint)];
  const { store, clock, log } = parts;
  const noteSecret = await createCredentialUseRecorder(secrets, store, clock, log);
  const withTenants = configured.filter(({ definition }) => definition.hasTenantSecrets);
  const noteTenant = createTenantUseRecorder(new Set(withTenants.map(({ name }) => name)), store, clock, log);
  const noteCredential: NoteCredential = (source, credential, tenant) => {
    noteSecret(source, credential);
    noteTenant(source, credential, tenant);
  };
  return { configuredSources: configured, learntSecrets, secrets, noteCredential, origin };
}

/** What runs beside the listeners: the pollers, retention, re-encryption, renewed certificates. */
function startUpkeep(
  config: Config,
  { receiver, configured, learntSecrets }: Services,
  options: StartOptions & {
    readonly captureBuffer: CaptureBuffer | null;
    readonly tls: TlsPair | null;
    readonly server: Server;
  },
  { start, stops }: Omit<ReturnType<typeof createBackgroundWork>, "runDue">,
): void {
  start(options);
  const { store, encryptor } = receiver;
  const { logger, server, tls, captureBuffer, resealPollMs = POLL_INTERVALS.resealPollMs } = options;
  stops.push(startRetentionJob(store, config.retention, receiver, captureBuffer));
  const learns = configured.some(({ definition }) => definition.learns);
  if (learns && learntSecrets !== undefined)
    stops.push(learntSecrets.start(options.secretPollMs ?? POLL_INTERVALS.secretPollMs));
  if (config.previousEncryptionKeys.length > 0)
    stops.push(startReencryption(store.encryptedValues, encryptor, logger, resealPollMs));
  if (tls !== null) stops.push(reloadOnChange(tls, server, logger));
}

interface OwnAdminParts extends Pick<AdminDependencies, "revoke" | "isServing"> {
  readonly secrets: () => readonly ConfiguredSecret[];
  readonly origins: { public: string; admin: string };
}

/** Opens the admin listener. @returns the check of its tokens, which the public listener shares */
async function openAdmin(
  config: Config,
  services: Services,
  { secrets, origins, ...own }: OwnAdminParts,
  undo: UndoStep[],
) {
  const { receiver, metrics, callbackLog, mask, rollups } = services;
  const access = adminAccess(config, receiver.encryptor, receiver.clock);
  const tokenCheck = createTokenCheck({ access, ...receiver });
  const connections = createAdminConnections(receiver.log);
  undo.push(async () => connections.close());
  const admin = createAdminListener({
    ...{ access, tokenCheck, guard: connections.guard, metrics, callbackLog, mask },
    ...own,
    sources: createSources(config, services, secrets, origins),
    sandbox: createSandbox(config, services, origins),
    channelNames: configuredChannelNames(config),
    about: { environment: config.environment, version: await packageVersion() },
    ...receiver,
    replay: (key) => replay(key, receiver),
    dryRun: (key) => dryRunReplay(key, receiver),
    discard: (key) => discard(key, receiver),
    flushRollups: rollups.flush,
  });
  undo.push(() => closeListener({ server: admin.server, close: () => admin.close() }));
  await listen(admin, config.admin, "ADMIN_");
  origins.admin = originOf(admin, "http");
  return tokenCheck;
}

/** Comes before the database: a source that cannot be made leaves no empty file behind. */
async function startLogging(config: Config, logger: Logger, undo: UndoStep[]) {
  const configured = await configuredSources(config);
  const mask = maskOf(config, { configured });
  if (config.tracing === null) return { configured, mask, tracer: undefined, logger };
  const { openTracing } = await import("../observability/tracing/opentelemetry/index.ts");
  const tracing = await openTracing(config.tracing, {
    log: logger,
    environment: config.environment,
    describe: (error) => mask.text(errorText(error)),
    isRejection: isRejected,
  });
  undo.push(() => tracing.close());
  return { configured, mask, tracer: tracing.tracer, logger: withTraceIds(logger, tracing.activeIds) };
}
