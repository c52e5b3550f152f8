export {
  type CallbackFilter,
  type CallbackLogEntry,
  type DroppedCallbacks,
  type DropReason,
  indexedOutcomes,
  isWithoutEvent,
  logEntryBytes,
  matchesCallback,
  OUTCOMES,
} from "./callback-log.ts";
export { fromCanonicalBase64url } from "./canonical-base64url.ts";
export { type Clock, createWindowLimit, systemClock } from "./clock.ts";
export {
  DIAGNOSES,
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type Finding,
  storedDiagnosis,
} from "./diagnosis.ts";
export { errorProperty, errorReason, fileErrorText, readableError, rootCause, shellWord } from "./errors.ts";
export {
  type CallbackEvent,
  type EventKey,
  fromPathSegment,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  keyText,
  parseJson,
  toPathSegment,
  VERSIONS,
  type Version,
} from "./event.ts";
export { FAULTS, type FaultCode } from "./faults.ts";
export { LinkedList, type ListEntry } from "./linked-list.ts";
export { createSparingLog, type Log, type SparingLog } from "./log.ts";
export type { AlreadyProcessed, Failed, Outcome, Refused, Success } from "./outcome.ts";
export { alreadyProcessed, failed, isRefused, refused, statusOf, success } from "./outcome.ts";
export {
  type AttemptInterruption,
  afterInterruption,
  type DeliveryPolicy,
  nextAttemptAt,
  nextDeliveryAt,
  type RetryPolicy,
} from "./retry-schedule.ts";
export {
  createSourceCounts,
  latencyBucket,
  latencyQuantile,
  OVERVIEW_RANGES,
  type OverviewRange,
  periodStart,
  type RollupCount,
  type RollupKey,
  type SourceCount,
  type SourceCounts,
} from "./rollup.ts";
