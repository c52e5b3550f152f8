import type { EventKey, FaultCode } from "../domain/index.ts";

/** Who had the handler run, other than a callback: the row of the callback log tells of that attempt. */
export type AttemptBy = "retry" | "replay" | "bulk";

/** One run of a handler beside the callbacks, as it ended. */
export interface NewAttempt extends EventKey {
  readonly beganAt: Date;
  readonly by: AttemptBy;
  readonly outcome: "success" | FaultCode;
  /** Message and stack, masked; null for a success. */
  readonly error: string | null;
  readonly tookMs: number;
}

export interface StoredAttempt extends Omit<NewAttempt, "beganAt"> {
  readonly id: number;
  /** ISO 8601. */
  readonly beganAt: string;
}

/** A stretch of a list that runs oldest first: rows with an id above `after`. */
export interface Stretch {
  readonly after: number;
  readonly limit: number;
}

/** The history of retries and replays. It is told to people, and nothing is decided by it. */
export interface AttemptStore {
  append(attempt: NewAttempt): Promise<void>;
  /** Those of one event, oldest first. */
  list(key: EventKey, stretch: Stretch): Promise<StoredAttempt[]>;
}
