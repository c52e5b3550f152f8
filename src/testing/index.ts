/** The door `oncehook/testing`: a receiver for the tests of handlers. */
export type { LogLine } from "./captured-log.ts";
export type { Answer } from "./post-callback.ts";
export {
  type Sending,
  type SentAnswer,
  startTestReceiver,
  type TestEvent,
  type TestReceiver,
  type TestReceiverOptions,
} from "./start-test-receiver.ts";
export type { Stored, TestFailure, TestNotification, TestRecord } from "./stored.ts";
export type { TestClock } from "./test-clock.ts";
