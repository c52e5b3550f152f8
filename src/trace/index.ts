export { inPhase } from "./in-phase.ts";
export type {
  ArrivedRequest,
  Concluded,
  DeliveryPhase,
  Phase,
  RequestPhase,
  RunKind,
  TraceIds,
  Tracer,
} from "./tracer.ts";
export type { SamplerName, TracingOptions } from "./tracing-options.ts";
