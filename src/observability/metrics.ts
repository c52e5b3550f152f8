import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { DIAGNOSES, type DiagnosisCode, type DropReason, type Outcome } from "../domain/index.ts";
import { sharedRender } from "./shared-render.ts";

export interface MetricsOptions {
  /** The only values that the label `event_type` may take, besides `unknown`. */
  readonly knownTypes: readonly string[];
  /** Asked at each scrape. */
  readonly failureCounts: () => Promise<Record<"waiting" | "exhausted", number>>;
  /** Asked at each scrape. */
  readonly deliveryCounts: () => Promise<Record<"waiting" | "dead", number>>;
  /** Asked at each scrape. */
  readonly waitingCallbacks: () => number;
  /** Without it the metrics say nothing of the database and the disk. */
  readonly probes?: DatabaseProbes;
}

export type Metrics = ReturnType<typeof createMetrics>;

const UNKNOWN = "unknown";
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of SPEC 1.9 and those an operator needs besides, on a registry of their own. */
export function createMetrics({
  knownTypes,
  failureCounts,
  deliveryCounts,
  waitingCallbacks,
  probes,
}: MetricsOptions) {
  const registry = new Registry();
  const registers = [registry];
  const types = new Set(knownTypes);
  collectDefaultMetrics({ register: registry });
  const requests = createBatchedCounter(
    registers,
    "callback_requests_total",
    "Callbacks answered, by event type and HTTP status.",
    ["event_type", "status"],
  );
  const duration = new Histogram({
    name: "callback_duration_seconds",
    help: "Processing time of a callback, from its arrival to its answer.",
    buckets: BUCKETS,
    registers,
  });
  const counters = createCounters(registers);
  const inFlight = new Gauge({ name: "oncehook_in_flight", help: "Callbacks being processed.", registers });
  new Gauge({
    name: "oncehook_waiting_callbacks",
    help: "Authentic callbacks at work or waiting for the database, of at most MAX_WAITING_CALLBACKS.",
    registers,
    collect() {
      this.set(waitingCallbacks());
    },
  });
  stateGauge(
    registers,
    "oncehook_failures",
    "Failed events: waiting for a retry, or with retries exhausted.",
    failureCounts,
  );
  stateGauge(
    registers,
    "oncehook_deliveries",
    "Notifications that are not delivered, waiting for an attempt or dead.",
    deliveryCounts,
  );
  if (probes !== undefined) registerDatabaseGauges(registers, probes);
  return {
    inFlight,
    /** One answered callback; `seconds` from its arrival. */
    callback(
      { outcome, eventType }: { outcome: Outcome; eventType?: string | undefined },
      status: number,
      seconds: number,
    ): void {
      const event_type = eventType !== undefined && types.has(eventType) ? eventType : UNKNOWN;
      requests([event_type, String(status)]);
      duration.observe(seconds);
      counters.outcomes([outcomeName(outcome)]);
    },
    attempt: (kind: "inline" | "retry" | "replay", outcome: Outcome) =>
      counters.attempts([kind, outcomeName(outcome)]),
    /** An accepted credential; shows when a secret that is being rotated out is no longer in use. */
    credentialUsed: ({ method, secret }: { method: string; secret: string }) =>
      counters.credentials([method, secret]),
    delivery: (channel: string, outcome: "delivered" | "failed" | "dead") =>
      counters.deliveries([channel, outcome]),
    diagnosed: (code: DiagnosisCode) => counters.diagnoses([code]),
    bodyMismatch: () => counters.bodyMismatch(),
    typeMismatch: () => counters.typeMismatch(),
    callbacksDropped: (reason: DropReason, rows: number) => counters.dropped([reason], rows),
    /** Costs milliseconds, and is open to strangers of the admin listener: those who ask at once share one. */
    render: sharedRender(async () => ({ contentType: registry.contentType, text: await registry.metrics() })),
    close: () => registry.clear(),
  };
}

function outcomeName(outcome: Outcome): string {
  return "code" in outcome ? outcome.code : outcome.kind;
}

function createCounters(registers: Registry[]) {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    createBatchedCounter(registers, `oncehook_${name}`, help, labelNames);
  const dropped = counter("callback_log_dropped_total", "Callbacks that were counted but not logged.", [
    "reason",
  ]);
  // 0 from the start: of a series that begins with its first count, Prometheus sees no increase.
  const reasons: DropReason[] = ["rejected_bound", "buffer_full", "body_bound", "unknown_address"];
  for (const reason of reasons) dropped([reason], 0);
  const diagnoses = counter(
    "signature_diagnoses_total",
    "Callbacks that were not authentic and were looked into, by what was found.",
    ["code"],
  );
  for (const code of Object.keys(DIAGNOSES)) diagnoses([code], 0);
  return {
    outcomes: counter("callback_outcomes_total", "Callbacks answered, by how they ended.", ["outcome"]),
    attempts: counter("attempts_total", "Runs of a handler.", ["kind", "outcome"]),
    credentials: counter(
      "credentials_used_total",
      "Authentic callbacks, by how they were and whether the current or a previous secret did it.",
      ["method", "secret"],
    ),
    deliveries: counter("delivery_attempts_total", "Attempts to deliver a notification, by how they ended.", [
      "channel",
      "outcome",
    ]),
    diagnoses,
    bodyMismatch: counter("body_mismatch_total", "Duplicates whose body was not the first one's."),
    typeMismatch: counter("type_mismatch_total", "Callbacks whose header and body named different types."),
    dropped,
  };
}

function stateGauge(
  registers: Registry[],
  name: string,
  help: string,
  count: () => Promise<Readonly<Record<string, number>>>,
): void {
  new Gauge({
    name,
    help,
    labelNames: ["state"],
    registers,
    async collect() {
      // A database that does not answer leaves the last counts; the scrape must still work.
      const counts = await undefinedIfSlow(count).catch(() => undefined);
      for (const [state, count] of Object.entries(counts ?? {})) this.set({ state }, count);
    },
  });
}

/** What a receiver stands on, asked at each scrape. */
interface DatabaseProbes {
  /** How many callbacks may be at work or wait: `MAX_WAITING_CALLBACKS`. */
  readonly mostWaitingCallbacks: number;
  /** Resolves when the database answers. */
  readonly ping: () => Promise<void>;
  /** How many bytes are free where the embedded database lies; absent where the database is a server's. */
  readonly freeBytes?: () => Promise<number>;
}

/** The gauges that tell a receiver that is up from one that can work. */
function registerDatabaseGauges(
  registers: Registry[],
  { mostWaitingCallbacks, ping, freeBytes }: DatabaseProbes,
): void {
  new Gauge({
    name: "oncehook_waiting_callbacks_limit",
    help: "MAX_WAITING_CALLBACKS, the bound of oncehook_waiting_callbacks.",
    registers,
  }).set(mostWaitingCallbacks);
  new Gauge({
    name: "oncehook_database_up",
    help: "Whether the database answered at this scrape: 1 or 0.",
    registers,
    async collect() {
      const answered = undefinedIfSlow(async () => ping().then(() => 1));
      this.set((await answered.catch(() => 0)) ?? 0);
    },
  });
  if (freeBytes === undefined) return;
  new Gauge({
    name: "oncehook_database_free_bytes",
    help: "Bytes that are free on the disk of the embedded database.",
    registers,
    async collect() {
      const free = await undefinedIfSlow(freeBytes).catch(() => undefined);
      if (free === undefined) this.remove();
      else this.set(free);
    },
  });
}

/** Below the time after which Prometheus gives a scrape up (10 s by default), and operators a probe. */
const PROBE_TIMEOUT_MS = 2_000;

/** Undefined when the work takes too long; it is not waited for any longer. */
export async function undefinedIfSlow<T>(work: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, undefined).unref();
  });
  try {
    return await Promise.race([work(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Counts one more, or `by` more, under these values of its labels, in the order of their names. */
type IncrementCounter = (values?: readonly string[], by?: number) => void;

/**
 * A counter that adds up its counts at each scrape: looking up a label's values costs more than counting, and a
 * callback is counted in five places.
 */
function createBatchedCounter(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: readonly string[] = [],
): IncrementCounter {
  const counts = new Map<string, { readonly labels: Record<string, string>; count: number }>();
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers,
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
  // One without labels is 0 from the start, and not absent.
  if (labelNames.length === 0) entryOf([], "");
  return (values = [], by = 1) => {
    const key = values.join("\n");
    const entry = counts.get(key) ?? entryOf(values, key);
    entry.count += by;
  };
}
