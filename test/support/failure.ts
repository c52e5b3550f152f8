import type { EventKey } from "../../src/domain/index.ts";
import type { NewFailure } from "../../src/store/index.ts";

/** A failure of this event as a store gets it, to be retried then; null where its retries are used up. */
export function newFailure(key: EventKey, nextAttemptAt: Date | null, over: Partial<NewFailure> = {}): NewFailure {
  return {
    ...key,
    eventType: "payment_notify",
    version: "v1",
    code: "handler_failed",
    error: "down",
    encryptedBody: Buffer.of(1),
    bodySha256: "ab".repeat(32),
    nextAttemptAt,
    ...over,
  };
}

/** The due retries of one source, the specification's platform where none is named. */
export const retriesOf = (limit: number, source = "platform") => ({ state: "waiting", source, limit }) as const;
