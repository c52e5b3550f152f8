import { EventEmitter } from "node:events";
import { statfs } from "node:fs/promises";
import { createArrivalCounts } from "../alerts/index.ts";
import type { Config } from "../config/index.ts";
import { type ConfiguredSource, createSourceMap, type MaskFor } from "../configured/index.ts";
import {
  createSecretClaims,
  type LearntSecrets,
  type NoteCredential,
  sourceSecretPhrase,
} from "../credentials/index.ts";
import { type Clock, PLATFORM, sourceOf } from "../domain/index.ts";
import { type Registry, SharedTimeLimit, type UserTokens } from "../handlers/index.ts";
import {
  createCallbackLog,
  createMetrics,
  createRollupCounts,
  type Logger,
  lineWriter,
  type Mask,
  type Metrics,
  type RollupCounts,
} from "../observability/index.ts";
import type { Tracer } from "../observability/tracing/index.ts";
import {
  ConcurrencyLimit,
  createRunLock,
  EventLock,
  errorText,
  type Observer,
  type Receiver,
} from "../pipeline/index.ts";
import type { OnResponse } from "../receive/index.ts";
import {
  createDiagnosis,
  type DiagnoseSource,
  type NamedSecret,
  type PlatformRules,
  type Scheme,
} from "../sources/index.ts";
import { createOriginalKeepers, originalBytes, type Store } from "../store/index.ts";
import { type Encryptor, KeyedSemaphore } from "../system/index.ts";
import {
  createCallbackAppender,
  createRollupWriter,
  createSlowHandlerReport,
  createStatementLog,
} from "../upkeep/index.ts";
import { createEndpointCheckProofs } from "./endpoint-check-proofs.ts";

export interface ServiceDependencies {
  readonly config: Config;
  readonly store: Store;
  readonly registry: Registry;
  readonly encryptor: Encryptor;
  readonly scheme: Scheme;
  /** The sources beside the built-in protocol. */
  readonly configured: readonly ConfiguredSource[];
  /** Protocol and host under which platforms reach the public listener. */
  readonly origin?: () => string;
  /** None is learnt when left out. */
  readonly learntSecrets?: LearntSecrets;
  readonly mask: Mask;
  readonly maskFor: MaskFor;
  readonly noteCredential: NoteCredential;
  /** Used to diagnose refused callbacks, and never accepted; none when left out. */
  readonly namedSecrets?: readonly NamedSecret[];
  readonly tokens: UserTokens;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the metrics have those of the process. */
  readonly ownsProcess?: boolean;
  readonly tracer: Tracer | undefined;
}

export type Services = ReturnType<typeof createServices>;

export function createServices(dependencies: ServiceDependencies) {
  const { config, store, registry, encryptor, scheme, tokens, clock, logger, tracer, configured } = dependencies;
  const { mask, maskFor, namedSecrets = [], learntSecrets, origin = () => config.baseUrl } = dependencies;
  const concurrency = new ConcurrencyLimit(config.maxWaitingCallbacks);
  const metrics = metricsOf(dependencies, concurrency);
  const callbackLog = createCallbackLog({
    append: createCallbackAppender(store, config.retention.refusedBytes, clock, logger),
    bytesBeside: originalBytes,
    isDataError: store.database.isDataError,
    logger,
    write: lineWriter(logger),
    clock,
    metrics,
  });
  const describeError = (error: unknown) => mask.text(errorText(error));
  const { handlerTimeoutMs } = config;
  const { noteFailed, ...counters } = createCounters(metrics, callbackLog.flush, dependencies);
  const { typeMismatch, ...observer } = createObserver(metrics, noteFailed, dependencies);
  const sources = createSourceMap(config, {
    ...{ scheme, configured, clock, log: logger, origin, learntSecrets, typeMismatch },
    claimSecret: createSecretClaims(config, store, clock),
    keeperOf: createOriginalKeepers({ encryptor, clock, log: logger }),
  });
  const receiver: Receiver = {
    store,
    sourcesByName: sources,
    registry,
    encryptor,
    clock,
    chance: Math.random,
    log: logger,
    describeError,
    statementLog: config.recordStatements ? createStatementLog({ store, mask, clock, log: logger }) : undefined,
    settings: { handlerTimeoutMs, retry: retrySettings(config), recordRetentionDays: config.retention.recordDays },
    observer,
    tracer,
    eventLock: new EventLock(),
    handlerSlots: new KeyedSemaphore(),
    handlerLimit: new SharedTimeLimit(handlerTimeoutMs),
    concurrency,
    runLock: createRunLock(),
    events: new EventEmitter(),
    unsavedPreparations: new Map(),
    tokens,
  };
  const source = sources.get(PLATFORM);
  if (source === undefined) throw new TypeError("the built-in protocol is always a source");
  return {
    ...{ source, configured, learntSecrets, receiver, mask, maskFor, metrics, callbackLog },
    diagnosisSecrets: namedSecrets,
    diagnoses: diagnosesOf(dependencies, origin),
    endpointCheckProofs: createEndpointCheckProofs(encryptor, clock),
    ...counters,
  };
}

/** Explains the refusals of each source beside the built-in protocol. */
function diagnosesOf(dependencies: ServiceDependencies, origin: () => string) {
  const { config, configured, learntSecrets, namedSecrets: named = [] } = dependencies;
  const diagnoses = configured.map((source): [string, DiagnoseSource] => {
    const { name, definition } = source;
    const { hmac, facts, preset, settings } = definition;
    const secrets = () => [...definition.secrets, ...(learntSecrets?.of(name) ?? [])];
    const secretName = (index: number) => sourceSecretPhrase(source, index, config);
    const others = configured
      .filter((other) => other !== source && other.definition.preset === preset)
      .flatMap((other) => other.definition.secrets.map((secret) => ({ name: other.name, secret })));
    const isOwn = facts.proof === "own";
    const given = { name, title: isOwn ? name : facts.title, isOwn, hmac, secrets, secretName };
    return [name, createDiagnosis({ ...given, named, otherSources: others, origin, url: settings.url })];
  });
  return new Map(diagnoses);
}

function metricsOf(dependencies: ServiceDependencies, concurrency: ConcurrencyLimit): Metrics {
  const { config, store, registry, clock, configured, ownsProcess = false } = dependencies;
  const { database } = config;
  return createMetrics({
    withProcessMetrics: ownsProcess,
    knownTypes: registry.types,
    patternOf: registry.patternOf,
    sources: [PLATFORM, ...configured.map(({ name }) => name)],
    failureCounts: () => store.failures.counts(),
    acceptedAge: async () => secondsSince(await store.failures.oldestAccepted(), clock),
    deliveryCounts: () => store.outbox.counts(),
    waitingCallbacks: () => concurrency.active,
    mostWaitingCallbacks: config.maxWaitingCallbacks,
    ping: () => store.ping(),
    // A database server's disk is its own business.
    ...(database.kind === "sqlite" && {
      freeBytes: () => statfs(database.path).then(({ bavail, bsize }) => bavail * bsize),
    }),
  });
}

/** For storing how a run ended; short limits need no more than as long again. */
const MARGIN_MS = 10_000;

/** The longest run of an event: waiting for its turn, `prepare`, then `handle`. */
export function maxAttemptMs({ requestTimeoutMs, handlerTimeoutMs }: Config): number {
  return requestTimeoutMs + 2 * handlerTimeoutMs;
}

/** A lease outlives the longest run. */
function retrySettings(config: Config): Receiver["settings"]["retry"] {
  const longest = maxAttemptMs(config);
  const leaseMs = longest + Math.min(MARGIN_MS, longest);
  return { timeLimitMs: config.requestTimeoutMs, leaseMs };
}

/** A callback is counted in one place: for the metrics, the overview, and the alert on silence. */
function createCounters(
  metrics: Metrics,
  storeLog: () => Promise<void>,
  { registry, store, clock, logger }: ServiceDependencies,
) {
  const arrivals = createArrivalCounts(registry.types);
  const rollupCounts = createRollupCounts(clock);
  const onResponse: OnResponse = (result, status, ms, source) => {
    metrics.callback(result, status, ms / 1_000, source);
    rollupCounts.note(source ?? "", result.outcome, ms);
    if (source !== undefined) arrivals.note(source, result);
  };
  return {
    arrivals,
    rollups: createRollupWriter({ counts: rollupCounts, store: store.rollups, clock, log: logger, storeLog }),
    onResponse,
    onItem: (result: Parameters<OnResponse>[0], source: string) => arrivals.note(source, result),
    noteFailed: rollupCounts.noteFailed,
  };
}

function secondsSince(time: string | null, clock: Clock): number {
  return time === null ? 0 : Math.max(0, (clock.now().getTime() - Date.parse(time)) / 1_000);
}

const BODY_MISMATCH = "a processed event_id arrived with another body; responded already_processed";
const STALE_EVENT = "an event was not run: a newer one of its orderBy has run already";
const TYPE_MISMATCH = "X-Event-Type, which is not signed, differs from event_type in the body; the header decided";

function createObserver(
  metrics: Metrics,
  noteFailed: RollupCounts["noteFailed"],
  { noteCredential, store, clock, logger: log }: ServiceDependencies,
): Observer & Pick<PlatformRules, "typeMismatch"> {
  return {
    handlerRan: createSlowHandlerReport(store, clock, log),
    attempted: (key, kind, outcome) => metrics.attempt(sourceOf(key), kind, outcome),
    credentialsUsed(source, credentials, tenant) {
      for (const credential of credentials) {
        const secret = credential.index === 0 ? "current" : "previous";
        metrics.credentialUsed(source, credential.method, secret);
        noteCredential(source, credential, tenant);
      }
    },
    acceptedFailed: ({ source, eventId }, acceptedAt, isRejected) =>
      noteFailed({ source, eventId, acceptedAt, outcome: isRejected ? "accepted_rejected" : "accepted_failed" }),
    bodyMismatch({ source, eventId }) {
      metrics.bodyMismatch(sourceOf({ source }));
      log.warn({ source, event_id: eventId }, BODY_MISMATCH);
    },
    staleEvent({ source, eventId }) {
      metrics.staleEvent(sourceOf({ source }));
      log.info({ source, event_id: eventId }, STALE_EVENT);
    },
    typeMismatch({ source, eventId }, header, body) {
      metrics.typeMismatch();
      log.warn({ source, event_id: eventId, header, body }, TYPE_MISMATCH);
    },
  };
}
