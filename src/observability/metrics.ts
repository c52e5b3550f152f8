import { Counter, type CounterConfiguration, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import {
  callOnce,
  type DiagnosisCode,
  type DropReason,
  type FailureState,
  type Outcome,
  outcomeName,
  REMEDIES,
} from "../domain/index.ts";
import { withTimeout } from "../system/index.ts";

export interface MetricsOptions {
  /** Whether `render` has the metrics of the process, which observe its event loop and its collections until its end. */
  readonly withProcessMetrics?: boolean;
  /** The only values that the label `event_type` may take, besides `unknown`. */
  readonly knownTypes: readonly string[];
  /** The pattern of a source's handlers that takes a type: the label, so that a platform's types make none. */
  readonly patternOf: (source: string, eventType: string) => string | undefined;
  /** The names of the configured sources, the only ones that a label may take. */
  readonly sources: readonly string[];
  /** Seconds since the oldest accepted event arrived; 0 where there is none. Asked at each scrape, as those below. */
  readonly acceptedAge: () => Promise<number>;
  readonly failureCounts: () => Promise<Record<FailureState, number>>;
  readonly deliveryCounts: () => Promise<Record<"waiting" | "dead", number>>;
  readonly waitingCallbacks: () => number;
  /** How many callbacks may be at work or wait: `MAX_WAITING_CALLBACKS`. */
  readonly mostWaitingCallbacks: number;
  /** Tells a receiver that is up from one that can work. */
  readonly ping: () => Promise<void>;
  /** How many bytes are free where the embedded database lies; absent where the database is a server's. */
  readonly freeBytes?: () => Promise<number>;
}

export type Metrics = ReturnType<typeof createMetrics>;

const HELP = {
  callback_requests_total: "Callbacks answered, by event type and HTTP status.",
  callback_duration_seconds: "Processing time of a callback, from its arrival to its answer.",
  oncehook_callback_outcomes_total: "Callbacks answered, by source and by how they ended.",
  oncehook_in_flight: "Callbacks being processed.",
  oncehook_waiting_callbacks:
    "Authentic callbacks at work or waiting for the database, of at most MAX_WAITING_CALLBACKS.",
  oncehook_waiting_callbacks_limit: "MAX_WAITING_CALLBACKS, the bound of oncehook_waiting_callbacks.",
  oncehook_attempts_total: "Runs of a handler, by the source of their events.",
  oncehook_failures: "Events not handled yet: accepted, waiting for a retry, with retries exhausted, or rejected.",
  oncehook_accepted_oldest_seconds: "Age of the oldest accepted event whose first attempt has not ended.",
  oncehook_deliveries: "Notifications that are not delivered, waiting for an attempt or dead.",
  oncehook_delivery_attempts_total: "Attempts to deliver a notification, by how they ended.",
  oncehook_credentials_used_total:
    "Authentic callbacks, by source, how they were and whether the current or a previous secret did it.",
  oncehook_signature_diagnoses_total:
    "Callbacks that were not authentic and were looked into, by source and by what was found.",
  oncehook_body_mismatch_total: "Duplicates whose body was not the first one's.",
  oncehook_stale_events_total: "Events that were not run, since a newer one of their orderBy had run.",
  oncehook_type_mismatch_total: "Callbacks whose header and body named different types.",
  oncehook_callback_log_dropped_total: "Callbacks that were counted but not logged.",
  oncehook_reconciled_total: "Events that scheduled reconciliations checked, by outcome.",
  oncehook_reconcile_runs_total: "Scheduled reconciliations, by outcome.",
  oncehook_database_up: "Whether the database answered at this scrape: 1 or 0.",
  oncehook_database_free_bytes: "Bytes that are free on the disk of the embedded database.",
} as const;

const UNKNOWN = "unknown";
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of SPEC 1.9 and those an operator needs besides, on a registry of their own. */
export function createMetrics({
  knownTypes,
  patternOf,
  sources,
  withProcessMetrics = false,
  ...gauges
}: MetricsOptions) {
  const registry = new Registry();
  const types = new Set(knownTypes);
  const rendered = withProcessMetrics ? [processMetrics(), registry] : [registry];
  const duration = new Histogram({ ...described("callback_duration_seconds", registry), buckets: BUCKETS });
  const { requests, outcomes, attempts, ...counters } = createCounters(registry, sources);
  const labelOf = (type: string | undefined, source = ""): string => {
    if (type === undefined || types.has(type)) return type ?? UNKNOWN;
    return patternOf(source, type) ?? UNKNOWN;
  };
  registerGauges(registry, gauges);
  return {
    inFlight: new Gauge(described("oncehook_in_flight", registry)),
    /** One answered callback; `seconds` from its arrival. */
    callback(
      { outcome, eventType }: { outcome: Outcome; eventType?: string | undefined },
      status: number,
      seconds: number,
      source = "",
    ): void {
      requests(labelOf(eventType, source), String(status));
      duration.observe(seconds);
      outcomes(source, outcomeName(outcome));
    },
    attempt: (source: string, kind: "inline" | "accepted" | "retry" | "replay", outcome: Outcome) =>
      attempts(source, kind, outcomeName(outcome)),
    ...counters,
    /** Costs milliseconds, and needs no sign-in: clients that ask at once share one. */
    render: sharedRender(async () => {
      const texts = await Promise.all(rendered.map((one) => one.metrics()));
      return { contentType: registry.contentType, text: texts.join("\n") };
    }),
    close: () => registry.clear(),
  };
}

/** One for all receivers of a process: its observers cannot be ended. */
const processMetrics = callOnce(() => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
});

function described(name: keyof typeof HELP, registry: Registry, labelNames: string[] = []) {
  return { name, help: HELP[name], registers: [registry], labelNames };
}

const CODES = Object.keys(REMEDIES) as DiagnosisCode[];
const BY_OUTCOME = ["source", "outcome"];
const BY_KIND = ["source", "kind", "outcome"];
const BY_SECRET = ["source", "method", "secret"];
const BY_CHANNEL = ["channel", "outcome"];

const LOGGED_DROPS = ["rejected_bound", "buffer_full", "row_refused", "body_bound", "unknown_address"] as const;

/** Each counts one more under the values of its labels, in the order of their names. */
function createCounters(registry: Registry, sources: readonly string[]) {
  const counter = <Values extends string[]>(
    name: keyof typeof HELP,
    labelNames: string[] = [],
    known: readonly Values[] = [],
  ) => createBatchedCounter<Values>(described(name, registry, labelNames), known);
  const eachSource = sources.map((source): [string] => [source]);
  return {
    requests: counter<[type: string, status: string]>("callback_requests_total", ["event_type", "status"]),
    outcomes: counter<[source: string, outcome: string]>("oncehook_callback_outcomes_total", BY_OUTCOME),
    attempts: counter<[source: string, kind: string, outcome: string]>("oncehook_attempts_total", BY_KIND),
    /** An accepted credential; shows when a secret that is being rotated out is no longer in use. */
    credentialUsed: counter<[source: string, method: string, secret: string]>(
      "oncehook_credentials_used_total",
      BY_SECRET,
    ),
    delivery: counter<[channel: string, outcome: "delivered" | "failed" | "dead"]>(
      "oncehook_delivery_attempts_total",
      BY_CHANNEL,
    ),
    diagnosed: counter<[source: string, code: DiagnosisCode]>(
      "oncehook_signature_diagnoses_total",
      ["source", "code"],
      sources.flatMap((source) => CODES.map((code): [string, DiagnosisCode] => [source, code])),
    ),
    /** An event that a platform lists, and a scheduled look at its list. */
    reconciled: counter<[source: string, outcome: string]>("oncehook_reconciled_total", BY_OUTCOME),
    reconcileRun: counter<[source: string, outcome: string]>("oncehook_reconcile_runs_total", BY_OUTCOME),
    bodyMismatch: counter<[source: string]>("oncehook_body_mismatch_total", ["source"], eachSource),
    staleEvent: counter<[source: string]>("oncehook_stale_events_total", ["source"], eachSource),
    typeMismatch: counter<[]>("oncehook_type_mismatch_total", [], [[]]),
    callbackDropped: counter<[DropReason]>(
      "oncehook_callback_log_dropped_total",
      ["reason"],
      LOGGED_DROPS.map((reason): [DropReason] => [reason]),
    ),
  };
}

function registerGauges(registry: Registry, options: Omit<MetricsOptions, "knownTypes" | "patternOf" | "sources">) {
  const { ping, freeBytes } = options;
  const gauge = (name: keyof typeof HELP, set: (gauge: Gauge) => void | Promise<void>, ...labelNames: string[]) =>
    new Gauge({
      ...described(name, registry, labelNames),
      collect() {
        return set(this);
      },
    });
  // A database that does not answer leaves the last counts; the scrape must still work.
  const found = <T>(work: () => Promise<T>) => undefinedIfSlow(work).catch(() => undefined);
  const states = (counts: () => Promise<Readonly<Record<string, number>>>) => async (gauge: Gauge) => {
    for (const [state, count] of Object.entries((await found(counts)) ?? {})) gauge.set({ state }, count);
  };
  gauge("oncehook_waiting_callbacks", (waiting) => waiting.set(options.waitingCallbacks()));
  gauge("oncehook_failures", states(options.failureCounts), "state");
  gauge("oncehook_accepted_oldest_seconds", async (age) => {
    const seconds = await found(options.acceptedAge);
    if (seconds !== undefined) age.set(seconds);
  });
  gauge("oncehook_deliveries", states(options.deliveryCounts), "state");
  gauge("oncehook_waiting_callbacks_limit", (limit) => limit.set(options.mostWaitingCallbacks));
  gauge("oncehook_database_up", async (up) => up.set((await found(() => ping().then(() => 1))) ?? 0));
  if (freeBytes === undefined) return;
  gauge("oncehook_database_free_bytes", async (bytes) => {
    const free = await found(freeBytes);
    if (free === undefined) bytes.remove();
    else bytes.set(free);
  });
}

/** Below the time after which Prometheus gives a scrape up (10 s by default), and operators a probe. */
const PROBE_TIMEOUT_MS = 2_000;

/** Undefined when the work takes too long; it is not waited for any longer. */
export async function undefinedIfSlow<T>(work: () => Promise<T>): Promise<T | undefined> {
  return withTimeout(work(), PROBE_TIMEOUT_MS, undefined);
}

/**
 * A counter that adds up its counts at each scrape. Looking up a label's values costs more than counting, and a
 * callback is counted in five places.
 * @param known values that are 0 from the start: Prometheus sees no increase when a series begins with its first count
 */
function createBatchedCounter<Values extends string[]>(
  options: Readonly<CounterConfiguration<string>>,
  known: readonly Values[],
): (...values: Values) => void {
  const { labelNames = [] } = options;
  const counts = new Map<string, { readonly labels: Record<string, string>; count: number }>();
  new Counter({
    ...options,
    collect() {
      this.reset();
      for (const { labels, count } of counts.values()) this.inc(labels, count);
    },
  });
  const entryOf = (values: readonly string[], key: string) => {
    const labels = Object.fromEntries(labelNames.map((label, index) => [label, values[index] ?? ""]));
    const entry = { labels, count: 0 };
    counts.set(key, entry);
    return entry;
  };
  for (const values of known) entryOf(values, values.join("\n"));
  return (...values) => {
    const key = values.join("\n");
    const entry = counts.get(key) ?? entryOf(values, key);
    entry.count += 1;
  };
}

/** A fifth of the time at most goes into renders that are asked for together. */
const REST_FACTOR = 4;
const LONGEST_REST_MS = 250;

/**
 * One render at a time; after one that was shared, a rest in proportion. All who ask meanwhile share the next one: it begins after
 * they asked, so that none gets an older state.
 */
export function sharedRender<T>(render: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let asked = 0;
  let isFreeAt: Promise<unknown> = Promise.resolve();

  async function run(): Promise<T> {
    await isFreeAt;
    next = undefined;
    const isShared = asked > 1;
    asked = 0;
    const startedAt = performance.now();
    const rendered = render();
    isFreeAt = rendered.then(rest, rest);
    return rendered;

    function rest(): Promise<void> | undefined {
      if (!isShared) return undefined;
      const ms = Math.min(LONGEST_REST_MS, REST_FACTOR * (performance.now() - startedAt));
      return new Promise((resolve) => void setTimeout(resolve, ms).unref());
    }
  }

  return () => {
    asked += 1;
    next ??= run();
    return next;
  };
}
