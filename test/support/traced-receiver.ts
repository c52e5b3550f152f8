import { vi } from "vitest";
import type { Dialect } from "./databases.ts";
import { type Collector, withCollector } from "./otlp-collector.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "./receiver.ts";

/** Lends a receiver that sends its traces to a collector, within a moment. */
export function withTraced<T>(
  dialect: Dialect,
  use: (receiver: TestReceiver, collector: Collector) => Promise<T>,
  options: ReceiverOptions = {},
): Promise<T> {
  return withCollector(async (collector) => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "30",
      ...options.env,
    };
    // The exporter reads the environment of the process, as in earnest.
    for (const [name, value] of Object.entries(env)) if (name.startsWith("OTEL_")) vi.stubEnv(name, value);
    try {
      return await withReceiver(dialect, (receiver) => use(receiver, collector), { ...options, env });
    } finally {
      vi.unstubAllEnvs();
    }
  });
}
