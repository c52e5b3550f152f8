import { SpanKind } from "@opentelemetry/api";
import { ExportResultCode, hrTimeToMilliseconds } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "../../domain/index.ts";

/**
 * The exporter `console`: a line of the log for each span. OpenTelemetry's own prints objects over many lines, in between
 * those of the log, and whoever reads that expects JSON.
 */
export function logExporter(log: Log): SpanExporter {
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
