import { type Failed, type FaultCode, keyText, nextAttemptAt } from "../domain/index.ts";
import type { Receiver } from "./callback.ts";
import type { Work } from "./work.ts";

/** Where the database was not reached, or another delivery is at work, there is nothing to keep or no need. */
const NOT_KEPT: ReadonlySet<FaultCode> = new Set(["store_unavailable", "event_in_progress"]);

/** Writes a failed event, encrypted, to `failures`, where the retry loop finds it (SPEC 1.10, 8). */
export async function keepFailure(work: Work, outcome: Failed, receiver: Receiver): Promise<void> {
  if (NOT_KEPT.has(outcome.code)) return;
  const { key, eventType, version, body } = work;
  const now = receiver.clock.now();
  try {
    await receiver.store.failures.record(
      {
        ...key,
        eventType,
        version,
        code: outcome.code,
        error: receiver.describe(outcome.cause),
        sealedBody: receiver.sealer.seal(body, sealContext(key)),
        nextAttemptAt: nextAttemptAt(receiver.rules.retry, 0, now) ?? null,
      },
      now,
    );
  } catch (error) {
    // The platform is told 500 all the same, so its redelivery takes the place of our retry.
    receiver.log.error({ err: error, event_id: key.eventId }, "the failure could not be stored for a retry");
  }
}

export function sealContext(key: Work["key"]): string {
  return `failure ${keyText(key)}`;
}
