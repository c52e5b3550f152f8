export type {
  AttemptSpanKind,
  DeliverySpan,
  RequestInfo,
  RequestResult,
  RequestSpan,
  SamplerName,
  TraceIds,
  Tracer,
  TraceSpan,
  TracingOptions,
} from "./tracer.ts";
export { inSpan } from "./tracer.ts";
