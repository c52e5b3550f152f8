import type { EventKey, Outcome } from "../domain/index.ts";
import { type Receiver, saysNothing } from "../receive/index.ts";
import type { AttemptBy } from "../store/index.ts";

export interface EndedRun {
  readonly key: EventKey;
  readonly by: AttemptBy;
  readonly beganAt: Date;
  readonly tookMs: number;
  readonly outcome: Outcome;
}

/**
 * Writes an attempt into its event's history, where the handler was run. What happened is said by the record and the failure; so
 * that a history that could not be written is no reason for anything else to fail.
 */
export async function noteAttempt({ key, by, beganAt, tookMs, outcome }: EndedRun, receiver: Receiver) {
  if (outcome.ending === "already_processed" || saysNothing(outcome)) return;
  const { store, log } = receiver;
  const ended = {
    outcome: "code" in outcome ? outcome.code : outcome.ending,
    error: errorOf(outcome, receiver),
  };
  try {
    await store.attempts.append({ ...key, by, beganAt, tookMs, ...ended });
  } catch (error) {
    log.warn(
      { err: error, source: key.source, event_id: key.eventId, outcome: ended.outcome },
      "an attempt could not be written down; the time line of its event lacks it",
    );
  }
}

function errorOf(outcome: Outcome, { describe }: Receiver): string | null {
  if (outcome.ending === "failed") return describe(outcome.cause);
  return outcome.ending === "refused" ? describe(outcome.detail ?? outcome.message) : null;
}
