import { randomBytes } from "node:crypto";
import { SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { ExportResultCode, hrTimeToMilliseconds, W3CTraceContextPropagator } from "@opentelemetry/core";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { createSparingLog, type Log } from "../../../domain/index.ts";
import { systemClock, withTimeout } from "../../../system/index.ts";
import type { SamplerName, TracingOptions } from "../index.ts";
import { type Diagnostics, takeDiagnostics, takeGlobals } from "./globals.ts";
import { createSpanTracer, type ErrorDescription, idsOf } from "./span-tracer.ts";

const FLUSH_LIMIT_MS = 2_000;

export interface TracingDependencies extends ErrorDescription {
  readonly log: Log;
  readonly environment: string;
}

/**
 * OpenTelemetry's own SDK. Spans wait in a bounded queue and are exported in batches; what does not fit is dropped. The
 * log has spans that could not be exported, once a minute at most.
 */
export async function openTracing(options: TracingOptions, deps: TracingDependencies) {
  const giveDiagnosticsBack = takeDiagnostics(createDiagnostics(deps.log, deps.describe));
  for (const warning of options.warnings) deps.log.warn({}, warning);
  const exporters = await Promise.all(
    options.exporters.map((name) => createExporter(name, options.protocol, deps.log)),
  );
  const provider = new TracerProvider({
    resource: resourceOf(deps.environment),
    sampler: SAMPLERS[options.sampler.name](options.sampler.ratio),
    spanLimits: Object.fromEntries(Object.entries(options.limits).filter(([, limit]) => limit !== undefined)),
    spanProcessors: exporters.map((exporter) => new BatchSpanProcessor({ exporter, ...options.batch })),
  });
  const propagator = new W3CTraceContextPropagator();
  const manager = new AsyncLocalStorageContextManager().enable();
  const { spans, contexts, release } = takeGlobals({ provider, contexts: manager, propagator });
  const requestParent = options.acceptsParent ? "headers" : "none";
  return {
    tracer: createSpanTracer({ spans, contexts, propagator, requestParent }, deps),
    /** The ids of the active span; undefined outside a trace. */
    activeIds: () => idsOf(trace.getSpanContext(contexts.active())),
    /** Exports what is left, within two seconds, and lets go of the globals that it took. */
    async close(): Promise<void> {
      // A collector that hangs must not use up the time in which the process may stop. Spans that could not be exported are
      // reported by the global error handler.
      await withTimeout(provider.shutdown(), FLUSH_LIMIT_MS, undefined).catch(() => {});
      giveDiagnosticsBack();
      release();
      manager.disable();
    },
  };
}

/** The environment's description of the service wins over the one here. */
function resourceOf(environment: string) {
  const own = { "service.name": "oncehook", "deployment.environment.name": environment };
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Loads the one that is used. The OTLP exporters read `OTEL_EXPORTER_OTLP_*` themselves. */
async function createExporter(
  name: TracingOptions["exporters"][number],
  protocol: TracingOptions["protocol"],
  log: Log,
): Promise<SpanExporter> {
  if (name === "console") return logExporter(log);
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter();
}

/**
 * The exporter `console`: a JSON line of the log for each span. OpenTelemetry's own prints objects over many lines, which
 * breaks programs that parse the log as JSON.
 */
function logExporter(log: Log): SpanExporter {
  return {
    export(spans, done) {
      for (const span of spans) log.info({ span: shown(span) }, "span");
      done({ code: ExportResultCode.SUCCESS });
    },
    shutdown: async () => {},
  };
}

function shown(span: ReadableSpan): object {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: SpanKind[span.kind]?.toLowerCase(),
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: span.parentSpanContext?.spanId ?? null,
    start: new Date(hrTimeToMilliseconds(span.startTime)).toISOString(),
    duration_ms: hrTimeToMilliseconds(span.duration),
    attributes: span.attributes,
    status: span.status,
    events: span.events.map(({ name, attributes }) => ({ name, attributes })),
    links: span.links.map((link) => ({ trace_id: link.context.traceId, span_id: link.context.spanId })),
  };
}

/** OpenTelemetry's messages go into the log. A collector that is away fails every batch, so once a minute is enough. */
function createDiagnostics(log: Log, describe: ErrorDescription["describe"]): Diagnostics {
  const sparing = createSparingLog(log, systemClock);
  const warn = (said: unknown, message: string) => sparing("warn", { fields: { detail: describe(said) }, message });
  const tell = (message: string) => warn(message, "OpenTelemetry warns");
  const note = (message: string) => log.debug({ detail: describe(message) }, "OpenTelemetry notes");
  const logger: Diagnostics["logger"] = { error: tell, warn: tell, info: note, debug: () => {}, verbose: () => {} };
  return { logger, failed: (error: unknown) => warn(error, "traces could not be exported") };
}

const SAMPLERS: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio(ratio) {
    const root = new TraceIdRatioBasedSampler(ratio);
    return new ParentBasedSampler({ root, remoteParentSampled: ignoringParentId(root) });
  },
};

/**
 * Decides as if the trace began here. Any client can send a `traceparent` that asks to be recorded, with an id that the
 * ratio would pick. Forged callbacks would bypass a configured ratio.
 */
function ignoringParentId(root: Sampler): Sampler {
  return {
    shouldSample: (parent, _traceId, ...rest) => root.shouldSample(parent, randomBytes(16).toString("hex"), ...rest),
    toString: () => `OnItsOwn{${root.toString()}}`,
  };
}
