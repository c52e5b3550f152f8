export { runEvent } from "./attempt.ts";
export { ConcurrencyLimit, createRunLock, EventLock, type RunLock } from "./concurrency.ts";
export { DryRun, type DryRunNotification, type DryRunStatement } from "./dry-run.ts";
export { errorText } from "./error-text.ts";
export type { IdentifiedEvent } from "./identify.ts";
export { type Delivery, processCallback, processDelivery } from "./pipeline.ts";
export { LATE_WORK_MS, preparationContext } from "./prepare-once.ts";
export type {
  AttemptInput,
  BodyReservation,
  BuildLogEntry,
  Callback,
  CallbackResult,
  Observer,
  PipelineSettings,
  Receiver,
  Source,
} from "./receiver.ts";
export { failureContext, isInconclusive, lookUpRecord } from "./store-failure.ts";
