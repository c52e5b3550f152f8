/** The samplers of the OpenTelemetry specification that need no server of their own. */
export type SamplerName =
  | "always_on"
  | "always_off"
  | "traceidratio"
  | "parentbased_always_on"
  | "parentbased_always_off"
  | "parentbased_traceidratio";

/**
 * What the `OTEL_*` variables say of traces. The exporter's address, headers, time limit and certificates, and the
 * resource's attributes, are not among it: the official packages read those themselves.
 */
export interface TracingOptions {
  readonly exporters: readonly ("otlp" | "console")[];
  readonly protocol: "http/protobuf" | "http/json";
  /** Whether `traceparent` and `tracestate` of a request are honoured. */
  readonly honoursParent: boolean;
  /** `ratio` from 0 to 1, for the samplers that have one. */
  readonly sampler: { readonly name: SamplerName; readonly ratio: number };
  /** Of the batches that are exported; times in milliseconds. */
  readonly batch: {
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
  };
  /** Undefined: the specification's own. */
  readonly limits: {
    readonly attributeValueLengthLimit: number | undefined;
    readonly attributeCountLimit: number | undefined;
    readonly eventCountLimit: number | undefined;
    readonly linkCountLimit: number | undefined;
  };
  /** What was set and cannot be used, with what is done instead: the specification asks for a warning, not a refusal. */
  readonly warnings: readonly string[];
}
