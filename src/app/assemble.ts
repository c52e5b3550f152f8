import type { Config } from "../config/index.ts";
import {
  configuredAuthorizationServer,
  configuredChannelNames,
  configuredHandlers,
  configuredSources,
  createPlatformScheme,
  masksOf,
  migrationsOf,
  notificationChannels,
} from "../configured/index.ts";
import { openCredentials, readDiagnosisSecrets } from "../credentials/index.ts";
import type { CaptureBuffer } from "../dev/capture/index.ts";
import { logStartupWarnings } from "../doctor/index.ts";
import type { Clock } from "../domain/index.ts";
import { createRegistry, type Handler, isRejected } from "../handlers/index.ts";
import { createCodeExchange, createUserTokens } from "../oauth/index.ts";
import { type Logger, type Mask, SecretValues, withTraceIds } from "../observability/index.ts";
import { errorText, LATE_WORK_MS } from "../pipeline/index.ts";
import type { Migration, Store } from "../store/index.ts";
import { createEncryptor, type Encryptor, systemClock } from "../system/index.ts";
import { createBackgroundWork } from "./background-work.ts";
import { openStore } from "./open-store.ts";
import { createServices } from "./services.ts";
import type { UndoSteps } from "./undo-steps.ts";

export interface AssembleOptions {
  readonly handlers?: readonly Handler[];
  readonly migrations?: readonly Migration[];
  readonly clock?: Clock;
  readonly logger: Logger;
  /** Whether the process is the receiver's: OpenTelemetry's globals and the metrics of the process are then too. */
  readonly ownsProcess?: boolean;
  /** Those that the mask of `logger` has: secrets that are named for diagnosis, or learnt later, join them. */
  readonly secretValues?: SecretValues;
}

export type Assembled = Awaited<ReturnType<typeof assemble>>;

interface Common {
  readonly store: Store;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Opens the store and makes the sources, the registry, the services and the background work of a receiver. It listens
 * nowhere and begins no round by itself.
 * @param undo gets what closes each part
 * @throws ConfigError for a file that cannot be used, MigrationError, or StartError
 */
export async function assemble(config: Config, options: AssembleOptions, undo: UndoSteps) {
  const { clock = systemClock, handlers = [], migrations = [], ownsProcess = false } = options;
  const { secretValues = new SecretValues(config.secretValues) } = options;
  // Before the database: a source that cannot be made leaves no empty file behind.
  const configured = await configuredSources(config);
  const { mask, maskFor } = masksOf(config, { configured, secretValues });
  const { logger, tracer } = await openTracing(config, { log: options.logger, ownsProcess, mask }, undo);
  /** Of the listeners, on this machine; empty until they listen. */
  const origins = { public: "", admin: "" };
  const encryptor = createEncryptor(config.encryptionKey, config.previousEncryptionKeys);
  const platform = configuredAuthorizationServer(config, () => origins.admin);
  const exchange = createCodeExchange(platform, {
    redirectUri: config.redirect.isUriGiven ? config.redirect.uri : undefined,
    timeLimitMs: config.handlerTimeoutMs + LATE_WORK_MS,
    log: logger,
  });
  const registry = configuredHandlers({ config, handlers }, configured, exchange, encryptor);
  const userHandlers = createRegistry([], handlers);
  const scheme = await createPlatformScheme(config, clock);
  const namedSecrets = await readDiagnosisSecrets(config);
  secretValues.add(namedSecrets.map(({ secret }) => secret));
  const channels = await notificationChannels(config, logger, mask);
  const store = await openStore(config, migrationsOf(registry, migrations), clock, logger);
  undo.add("store", () => store.close());
  const common = { store, encryptor, clock, log: logger };
  const tokens = createUserTokens({ ...common, store: store.userTokens, platform });
  const captureBuffer = await openCaptureBuffer(config, common);
  const { secrets, ...credentials } = await openCredentials(config, configured, { ...common, secretValues });
  const services = createServices({
    ...{ config, store, registry, encryptor, scheme, tokens, clock, logger, tracer, namedSecrets },
    ...{ configured, mask, maskFor, ownsProcess, ...credentials },
    origin: () => (config.isBaseUrlGiven ? new URL(config.baseUrl).origin : origins.public),
  });
  const { callbackLog, metrics, receiver } = services;
  undo.add("callback log", () => callbackLog.close());
  const { statementLog } = receiver;
  if (statementLog !== undefined) undo.add("statements", () => statementLog.close());
  undo.add("captured callbacks", () => captureBuffer?.close());
  undo.add("metrics", () => metrics.close());
  undo.add("late handlers", () => receiver.concurrency.outsideLimitEnded());
  await logStartupWarnings(config, services, configuredChannelNames(config), logger);
  return {
    ...{ config, services, origins, platform, tokens, captureBuffer, secrets, userHandlers },
    background: createBackgroundWork(config, services, tokens, { channels, userHandlers }),
  };
}

/** Its code is loaded only where callbacks are kept for listeners. */
async function openCaptureBuffer({ captureEnabled }: Config, common: Common): Promise<CaptureBuffer | null> {
  if (!captureEnabled) return null;
  const { createCaptureBuffer } = await import("../dev/capture/index.ts");
  return createCaptureBuffer({ ...common, store: common.store.captures });
}

/** A server has tracing of its own; a receiver in an application joins that of the application. */
async function openTracing(
  { tracing, environment }: Config,
  { log, ownsProcess, mask }: { readonly log: Logger; readonly ownsProcess: boolean; readonly mask: Mask },
  undo: UndoSteps,
) {
  const off = { tracer: undefined, logger: log };
  if (tracing === null && ownsProcess) return off;
  const { joinTracing, openTracing: open } = await import("../observability/tracing/opentelemetry/index.ts");
  const errors = { describe: (error: unknown) => mask.text(errorText(error)), isRejection: isRejected };
  if (tracing === null) {
    const joined = await joinTracing(errors);
    return joined === undefined ? off : { tracer: joined.tracer, logger: withTraceIds(log, joined.activeIds) };
  }
  const opened = await open(tracing, { log, environment, ...errors });
  undo.add("tracing", () => opened.close());
  return { tracer: opened.tracer, logger: withTraceIds(log, opened.activeIds) };
}
