import { type EventKey, type Failed, keyText, nextAttemptAt, type Outcome } from "../domain/index.ts";
import { SealKeyMissing } from "../seal/index.ts";
import { StoreFault } from "../store/index.ts";
import type { Receiver } from "./callback.ts";
import type { Work } from "./work.ts";

/**
 * Whether the handler was begun. Where the database was not reached, or another delivery is at work, it was not:
 * such an ending is no verdict on the event, is not kept and costs no retry.
 */
function wasBegun({ code, cause }: Failed): boolean {
  if (code === "event_in_progress") return false;
  return code !== "store_unavailable" || (cause instanceof StoreFault && cause.ran);
}

/**
 * Whether an attempt said nothing of the event: the database was not reached, its type has no handler in this
 * process, or the key that sealed it is not configured. The event was valid when it was accepted, so a start with
 * another configuration must not end its retries.
 */
export function saysNothing(outcome: Outcome): boolean {
  if (outcome.ending === "refused") return outcome.code === "event_type_unknown";
  if (outcome.ending !== "failed") return false;
  // Other keys may be missing to a handler, the one of a user's tokens, say; that one was run, and has failed.
  const isBodySealed = outcome.code === "internal" && outcome.cause instanceof SealKeyMissing;
  return isBodySealed || !wasBegun(outcome);
}

/** Writes a failed event, encrypted, to `failures`, where the retry loop finds it (SPEC 1.10, 8). */
export async function keepFailure(work: Work, outcome: Failed, receiver: Receiver): Promise<void> {
  if (!wasBegun(outcome)) return;
  const { key, eventType, version, body, bodySha256 } = work;
  const isUnknown = outcome.code === "commit_unknown";
  // Mostly COMMIT has happened, and there is nothing to retry. Where it has not yet, the retry finds out.
  if (isUnknown && (await lookedUp(key, receiver)) === "recorded") return;
  const now = receiver.clock.now();
  const { retry } = receiver.rules;
  // It has to be found out once, also where failures are not retried.
  const next = nextAttemptAt(isUnknown ? { ...retry, max: Math.max(1, retry.max) } : retry, 0, now);
  try {
    await receiver.store.failures.record(
      {
        ...key,
        eventType,
        version,
        code: outcome.code,
        error: receiver.describe(outcome.cause),
        sealedBody: receiver.sealer.seal(body, sealContext(key)),
        bodySha256,
        nextAttemptAt: next ?? null,
      },
      now,
    );
  } catch (error) {
    // The platform is told 500 all the same, so its redelivery takes the place of our retry.
    receiver.log.error({ err: error, event_id: key.eventId }, "the failure could not be stored for a retry");
  }
}

const LOOK_UP_MS = 5_000;

/** Whether a COMMIT happened whose answer was lost; its request's own time may be over. */
export async function lookedUp(
  key: EventKey,
  { store }: Receiver,
): Promise<"recorded" | "absent" | "unknown"> {
  try {
    const record = await store.find(key, performance.now() + LOOK_UP_MS);
    return record === undefined ? "absent" : "recorded";
  } catch {
    return "unknown";
  }
}

export function sealContext(key: Work["key"]): string {
  return `failure ${keyText(key)}`;
}
