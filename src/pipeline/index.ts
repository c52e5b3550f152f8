export { acceptEvent } from "./accept-event.ts";
export { runEvent } from "./attempt.ts";
export { ConcurrencyLimit, createRunLock, EventLock, type RunLock } from "./concurrency.ts";
export { DryRun, type DryRunNotification, type DryRunStatement } from "./dry-run.ts";
export { errorText } from "./error-text.ts";
export { orderKeyOf } from "./handler-slot.ts";
export { UNKNOWN_BYTES } from "./outcomes.ts";
export { processCallback, processDelivery } from "./pipeline.ts";
export { LATE_WORK_MS, preparationContext } from "./prepare-once.ts";
export type {
  AnswerMode,
  AttemptInput,
  BodyReservation,
  BuildLogEntry,
  Callback,
  CallbackResult,
  Delivery,
  Observer,
  PipelineSettings,
  Receiver,
  Source,
} from "./receiver.ts";
export { runUnread } from "./run-unread.ts";
export {
  failureContext,
  givesUpAtOf,
  isInconclusive,
  lookUpRecord,
  recordAttempt,
  retryPolicyOf,
} from "./store-failure.ts";
