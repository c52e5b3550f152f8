export { atMost } from "./at-most.ts";
export { type CallbackFilter, matchesCallback, OUTCOMES, rareOutcomes } from "./callback-filter.ts";
export {
  type CallbackLogRow,
  isOfStranger,
  type LeftOut,
  type LeftOutReason,
  logRowBytes,
} from "./callback-log.ts";
export { fromCanonicalBase64url } from "./canonical-base64url.ts";
export { type Clock, systemClock } from "./clock.ts";
export { type Counted, type Counts, createCounts } from "./counts.ts";
export { type DeliveryPolicy, nextDeliveryAt } from "./delivery-schedule.ts";
export { DIAGNOSES, type DiagnosisCode } from "./diagnoses.ts";
export { type Diagnosis, diagnosisOf, type Finding, storedDiagnosis } from "./diagnosis.ts";
export { alreadyProcessed, failed, isRefused, refused, statusOf, success } from "./endings.ts";
export { type CallbackEvent, type EventKey, keyText, VERSIONS, type Version } from "./event.ts";
export { FAULTS, type FaultCode } from "./faults.ts";
export { fileTrouble } from "./file-trouble.ts";
export { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
export type { Log } from "./log.ts";
export type { AlreadyProcessed, Failed, Outcome, Refused, Success } from "./outcome.ts";
export { asSegment, ofSegment } from "./path-segment.ts";
export { errorPart, readableError } from "./readable-error.ts";
export { afterCutOff, type CutOffAttempt, nextAttemptAt, type RetryPolicy } from "./retry-schedule.ts";
export {
  bucketOf,
  quantileOf,
  type RollupCount,
  type RollupKey,
  SPANS,
  type Span,
  slotOf,
} from "./rollup.ts";
export { createSparingLog, type SparingLog } from "./sparing-log.ts";
