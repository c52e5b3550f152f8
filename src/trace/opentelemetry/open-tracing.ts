import { context, diag, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { loggingErrorHandler, setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Log } from "../../domain/index.ts";
import type { TraceIds, Tracer } from "../tracer.ts";
import type { TracingOptions } from "../tracing-options.ts";
import { createDiagnostics } from "./diagnostics.ts";
import { createExporter } from "./exporter.ts";
import { samplerOf } from "./sampler.ts";
import { createSpanTracer } from "./span-tracer.ts";

export interface TracingDeps {
  /** Told that spans could not be exported, once a minute at the most. */
  readonly log: Log;
  /** `development`, `test` or `production`. */
  readonly environment: string;
  /** An error with its causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Whether an error that a handler threw is a verdict on the event, and no fault. */
  readonly isVerdict: (error: unknown) => boolean;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** The ids of the active span; undefined outside a trace. */
  activeIds(): TraceIds | undefined;
  /** Exports what is left, within two seconds, and lets go of what is global. */
  close(): Promise<void>;
}

const FLUSH_LIMIT_MS = 2_000;

/**
 * OpenTelemetry's own SDK. Spans wait in a bounded queue and are exported in batches; what does not fit is dropped. Whatever
 * else in this process speaks the OpenTelemetry API, a handler say, is traced with it: context, tracer and propagator are
 * the global ones.
 */
export async function openTracing(options: TracingOptions, deps: TracingDeps): Promise<Tracing> {
  const diagnostics = createDiagnostics(deps.log, deps.describe);
  diag.setLogger(diagnostics.logger, { suppressOverrideMessage: true });
  setGlobalErrorHandler(diagnostics.failed);
  for (const warning of options.warnings) deps.log.warn({}, warning);
  const exporters = await Promise.all(
    options.exporters.map((name) => createExporter(name, options.protocol, deps.log)),
  );
  const provider = new TracerProvider({
    resource: resourceOf(deps.environment),
    sampler: samplerOf(options.sampler),
    spanLimits: given(options.limits),
    spanProcessors: exporters.map((exporter) => new BatchSpanProcessor({ exporter, ...options.batch })),
  });
  const propagator = new W3CTraceContextPropagator();
  const isOurs = trace.setGlobalTracerProvider(provider);
  if (isOurs) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(propagator);
  }
  return {
    tracer: createSpanTracer(trace.getTracer("oncehook"), propagator, options.honoursParent, deps),
    activeIds() {
      const active = trace.getSpanContext(context.active());
      return active === undefined ? undefined : { traceId: active.traceId, spanId: active.spanId };
    },
    async close() {
      await withinTime(provider.shutdown());
      setGlobalErrorHandler(loggingErrorHandler());
      diag.disable();
      if (!isOurs) return;
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

/** What the environment says of the service wins over what is said here. */
function resourceOf(environment: string) {
  const own = { "service.name": "oncehook", "deployment.environment.name": environment };
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
}

function given(limits: TracingOptions["limits"]): Record<string, number> {
  const known = Object.entries(limits).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return Object.fromEntries(known);
}

/** A collector that hangs must not use up the time in which the process may stop. */
async function withinTime(shutdown: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, FLUSH_LIMIT_MS);
  // What could not be exported was told through the global error handler, or is told by nobody at an exit.
  await Promise.race([shutdown.catch(() => {}), late.promise]);
  clearTimeout(timer);
}
