export type { CallbackLogRow } from "./callback-log.ts";
export { type Clock, systemClock } from "./clock.ts";
export { alreadyProcessed, failed, isRefused, refused, statusOf, success } from "./endings.ts";
export { type CallbackEvent, type EventKey, keyText, VERSIONS, type Version } from "./event.ts";
export { FAULTS, type FaultCode } from "./faults.ts";
export { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
export type { Log } from "./log.ts";
export type { AlreadyProcessed, Failed, Outcome, Refused, Success } from "./outcome.ts";
export { nextAttemptAt, type RetryPolicy } from "./retry-schedule.ts";
