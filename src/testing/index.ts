/** `oncehook/testing`: a receiver for the tests of handlers. */
export type { LogLine } from "./captured-log.ts";
export type { CallbackResponse } from "./post-callback.ts";
export type { SendOptions, Sent, SentCallback, SentResponse, TestEvent } from "./send.ts";
export { type SignedCallback, type SigningOptions, signedCallback, type TestCallback } from "./signed-callback.ts";
export {
  startTestReceiver,
  type TestReceiver,
  type TestReceiverOptions,
} from "./start-test-receiver.ts";
export type { StoredData, TestFailure, TestNotification, TestRecord } from "./stored-data.ts";
export type { TestClock } from "./test-clock.ts";
