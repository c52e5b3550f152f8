import type { EventKey, Outcome } from "../../domain/index.ts";

/**
 * Makes visible, as a trace, what became of a callback and how long each step took. Absent where tracing is off, so that
 * its users ask `tracer?.` and pay no more. None of it throws, and none of it waits.
 */
export interface Tracer {
  /** The span of a whole request: a child of what its `traceparent` names, where that is honoured. */
  startRequest(arrived: RequestInfo): RequestSpan;
  /** The span of a stored failure's run: a separate trace, with a link to the callback that failed, if known. */
  startAttempt(kind: "accepted" | "retry" | "replay" | "dry-run", key: EventKey, eventType: string): TraceSpan;
  /**
   * The span of an attempt to deliver a notification: a separate trace, also with a link to the event's callback. Its
   * headers are for a receiver over HTTP: `traceparent`, and `tracestate` where there is one.
   */
  startDelivery(
    channel: string,
    topic: string,
    key: EventKey,
  ): TraceSpan & { readonly headers: Readonly<Record<string, string>> };
  /** A span within the active one. */
  startSpan(name: string): TraceSpan;
}

export interface TraceSpan {
  /** Runs it with this span as the active one: what begins meanwhile is its child. */
  within<T>(run: () => T): T;
  /** @param came the result: an outcome, or an object with one under `outcome`, is recorded; anything else is a success */
  end(came?: object): void;
  /** Ends a span whose work threw. */
  fail(error: unknown): void;
}

export interface RequestSpan extends Pick<TraceSpan, "within"> {
  readonly ids: TraceIds;
  end(result: {
    readonly status: number;
    readonly outcome: Outcome;
    readonly source: string | undefined;
    readonly eventId: string | undefined;
    readonly eventType: string | undefined;
  }): void;
}

export interface RequestInfo {
  readonly method: string;
  /** The path that is served, as it was registered; the query may hold a code, and is not asked for. */
  readonly route: string;
  readonly protocol: "http" | "https";
  readonly httpVersion: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** In lowercase hex, 32 and 16 digits (W3C Trace Context). */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** The samplers of the OpenTelemetry specification that need no server of their own. */
export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/**
 * The settings of traces from the `OTEL_*` variables. They lack the exporter's address, headers, time limit and
 * certificates, and the resource's attributes: the official packages read those themselves.
 */
export interface TracingOptions {
  readonly exporters: readonly ("otlp" | "console")[];
  readonly protocol: "http/protobuf" | "http/json";
  /** Whether `traceparent` and `tracestate` of a request are honoured. */
  readonly acceptsParent: boolean;
  /** `ratio` from 0 to 1, for the samplers that have one. */
  readonly sampler: { readonly name: SamplerName; readonly ratio: number };
  /** Of the batches that are exported; times in milliseconds. */
  readonly batch: Readonly<
    Record<"scheduledDelayMillis" | "exportTimeoutMillis" | "maxQueueSize" | "maxExportBatchSize", number>
  >;
  /** Undefined: the specification's own. */
  readonly limits: Readonly<
    Record<
      "attributeValueLengthLimit" | "attributeCountLimit" | "eventCountLimit" | "linkCountLimit",
      number | undefined
    >
  >;
  /** Variables that were set and cannot be used, and their replacement: the specification asks for a warning, not a refusal. */
  readonly warnings: readonly string[];
}

/** Runs it in this span and ends the span with what it comes to; without a span it only runs. */
export function inSpan<Args extends readonly unknown[], Came extends object>(
  span: TraceSpan | undefined,
  run: (...args: Args) => Promise<Came>,
  ...args: Args
): Promise<Came> {
  if (span === undefined) return run(...args);
  return span
    .within(() => run(...args))
    .then(
      (came) => {
        span.end(came);
        return came;
      },
      (error: unknown) => {
        span.fail(error);
        throw error;
      },
    );
}
