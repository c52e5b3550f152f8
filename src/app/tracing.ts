import type { Config } from "../config/index.ts";
import { isRejected } from "../handlers/index.ts";
import { createMask, type Logger, withTraceIds } from "../observe/index.ts";
import { errorText } from "../receive/index.ts";
import type { Tracer } from "../trace/index.ts";
import type { Step } from "./stop.ts";

interface Traced {
  readonly tracer: Tracer | undefined;
  /** Its lines carry the ids of the trace in which they are written. */
  readonly logger: Logger;
}

/** Loads OpenTelemetry where the environment asks for traces, and only there. */
export async function startTracing(config: Config, logger: Logger, undo: Step[]): Promise<Traced> {
  if (config.tracing === null) return { tracer: undefined, logger };
  const { openTracing } = await import("../trace/opentelemetry/index.ts");
  const mask = createMask({ ...config.mask, secretValues: config.secretValues });
  const tracing = await openTracing(config.tracing, {
    log: logger,
    environment: config.environment,
    describe: (error) => mask.text(errorText(error)),
    isVerdict: isRejected,
  });
  undo.push(() => tracing.close());
  return { tracer: tracing.tracer, logger: withTraceIds(logger, tracing.activeIds) };
}
