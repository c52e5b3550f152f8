import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "../../domain/index.ts";
import type { TracingOptions } from "../tracing-options.ts";
import { logExporter } from "./log-exporter.ts";

/** Loads the one that is used. The OTLP exporters read `OTEL_EXPORTER_OTLP_*` themselves. */
export async function createExporter(
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
