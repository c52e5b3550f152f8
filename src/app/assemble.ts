import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Arrivals, createArrivals } from "../alert/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../domain/index.ts";
import type { Registry, UserTokens } from "../handlers/index.ts";
import { createHearing, type Hearing } from "../hear/index.ts";
import type { Answered } from "../http/index.ts";
import {
  type CallbackLog,
  createCallbackLog,
  createMask,
  createMetrics,
  createRollupCounts,
  type Logger,
  lineWriter,
  type Mask,
  type Metrics,
} from "../observe/index.ts";
import {
  createPlaces,
  createRunTurns,
  createSingleFlight,
  errorText,
  type ReceiveRules,
  type Receiver,
  type Source,
} from "../receive/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { Store } from "../store/index.ts";
import type { Tracer } from "../trace/index.ts";
import type { Credential, NamedSecret, Scheme } from "../verify/index.ts";
import { createEndpointChecks, type EndpointChecks } from "./endpoint-checks.ts";
import { createObserver } from "./observer.ts";
import { createCallbackAppender } from "./store-callbacks.ts";
import { createRollupWriter, type RollupWriter } from "./write-rollups.ts";

interface Given {
  readonly config: Config;
  readonly store: Store;
  readonly registry: Registry;
  readonly sealer: Sealer;
  readonly scheme: Scheme;
  readonly noteCredential: (credential: Credential) => void;
  /** Used to diagnose refused callbacks, and never accepted; none when left out. */
  readonly namedSecrets?: readonly NamedSecret[];
  readonly tokens: UserTokens;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
}

/** Everything between the listeners and the store. */
export interface Inner {
  readonly source: Source;
  readonly receiver: Receiver;
  readonly mask: Mask;
  readonly metrics: Metrics;
  readonly callbackLog: CallbackLog;
  /** Null where callbacks are not kept for listeners. */
  readonly hearing: Hearing | null;
  readonly describe: (error: unknown) => string;
  readonly arrivals: Arrivals;
  readonly namedSecrets: readonly NamedSecret[];
  readonly endpointChecks: EndpointChecks;
  readonly rollups: RollupWriter;
  readonly answered: Answered;
}

/** Puts the inner rooms together; made once at the start. */
export function assemble(given: Given): Inner {
  const { config, store, registry, sealer, scheme, noteCredential, tokens, clock, logger, tracer } = given;
  const { namedSecrets = [] } = given;
  const secretValues = [...config.secretValues, ...namedSecrets.map(({ secret }) => secret)];
  const mask = createMask({ ...config.mask, secretValues });
  const places = createPlaces(config.maxWaitingCallbacks);
  const metrics = createMetrics({
    knownTypes: registry.types,
    failureCounts: () => store.failures.counts(),
    deliveryCounts: () => store.outbox.counts(),
    waitingCallbacks: () => places.taken,
    surroundings: {
      mostWaitingCallbacks: config.maxWaitingCallbacks,
      ping: () => store.ping(),
      ...freeBytesOf(config),
    },
  });
  const callbackLog = createCallbackLog({
    append: createCallbackAppender({
      store,
      clock,
      log: logger,
      refusedBytes: config.retention.refusedBytes,
    }),
    logger,
    write: lineWriter(logger),
    clock,
    metrics,
  });
  const hearing = config.keepsHeard
    ? createHearing({ store: store.heard, sealer, clock, log: logger })
    : null;
  const describe = (error: unknown) => mask.text(errorText(error));
  const source: Source = { name: "platform", scheme };
  const receiver: Receiver = {
    store,
    registry,
    sealer,
    clock,
    log: logger,
    describe,
    rules: rulesOf(config),
    observer: createObserver(metrics, noteCredential, logger),
    tracer,
    flights: createSingleFlight(),
    places,
    turns: createRunTurns(),
    unsaved: new Map(),
    tokens,
  };
  const counted = countedBy(metrics, given);
  const endpointChecks = createEndpointChecks(sealer, clock);
  return {
    source,
    receiver,
    mask,
    metrics,
    callbackLog,
    hearing,
    describe,
    namedSecrets,
    endpointChecks,
    ...counted,
  };
}

function rulesOf(config: Config): ReceiveRules {
  return {
    eventTypeFrom: config.eventTypeFrom,
    rejectTypeMismatch: config.rejectTypeMismatch,
    handlerTimeoutMs: config.handlerTimeoutMs,
    retry: config.retry,
    recordRetentionDays: config.retention.recordDays,
  };
}

/** A callback is counted in one place: for the metrics, the overview, and the history that alerts are judged by. */
function countedBy(
  metrics: Metrics,
  { registry, store, clock, logger }: Given,
): Pick<Inner, "arrivals" | "rollups" | "answered"> {
  const arrivals = createArrivals(registry.types);
  const rollupCounts = createRollupCounts();
  return {
    arrivals,
    rollups: createRollupWriter(rollupCounts, store.rollups, clock, logger),
    answered(reception, status, ms, source) {
      metrics.callback(reception, status, ms / 1_000);
      rollupCounts.note(source ?? "", reception.outcome, ms);
      if (source !== undefined) arrivals.note(source, reception);
    },
  };
}

/** A database server's disk is its own business. */
function freeBytesOf({ database }: Config): { freeBytes?: () => Promise<number> } {
  if (database.kind !== "sqlite") return {};
  return {
    async freeBytes() {
      const { bavail, bsize } = await statfs(dirname(database.path));
      return bavail * bsize;
    },
  };
}
