import { setTimeout as sleep } from "node:timers/promises";
import {
  type EventKey,
  type Failed,
  failed,
  isRefused,
  keyText,
  nextAttemptAt,
  type Outcome,
  type Version,
} from "../domain/index.ts";
import {
  lookedUp,
  parseEvent,
  type Receiver,
  runEvent,
  saysNothing,
  sealContext,
  type Work,
} from "../receive/index.ts";
import type { StoredFailure } from "../store/index.ts";
import { inPhase } from "../trace/index.ts";
import { noteAttempt } from "./note-attempt.ts";

export interface FailureRun {
  readonly failure: StoredFailure;
  /** Who holds the failure's lease. */
  readonly owner: string;
  readonly kind: "retry" | "replay";
  /** The bulk replay that it is one of. */
  readonly bulkReplayId?: number | undefined;
  readonly timeLimitMs: number;
  /** Until then its end is offered to an absent database, on the scale of `performance.now()`; once where it is left out. */
  readonly leaseEnds?: number;
  /** Aborted when the process stops, which waits for no absent database. */
  readonly stopping?: AbortSignal;
}

/** Runs a leased failure once more and settles it: gone after a success, otherwise put off, rescheduled or exhausted. */
export async function runFailure(run: FailureRun, receiver: Receiver): Promise<Outcome> {
  const { failure, kind, bulkReplayId } = run;
  const beganAt = receiver.clock.now();
  const begun = performance.now();
  const outcome = await runStored(failure, { kind, mode: "commit" }, run.timeLimitMs, receiver);
  const tookMs = performance.now() - begun;
  const key = { source: failure.source, eventId: failure.eventId };
  const by = bulkReplayId === undefined ? kind : "bulk";
  await Promise.all([
    settleInTime(run, outcome, receiver),
    noteAttempt({ key, by, beganAt, tookMs, outcome }, receiver),
  ]);
  return outcome;
}

/** The stored event through the same path as a callback's, after its signature: the bytes were verified then. */
export async function runStored(
  failure: StoredFailure,
  { kind, mode, rehearsal }: Pick<Work, "mode" | "rehearsal"> & Pick<FailureRun, "kind">,
  timeLimitMs: number,
  receiver: Receiver,
): Promise<Outcome> {
  const key = { source: failure.source, eventId: failure.eventId };
  const deadline = performance.now() + timeLimitMs;
  const phase = receiver.tracer?.run(mode === "rehearse" ? "rehearse" : kind, key, failure.eventType);
  return inPhase(phase, receiver.flights.take, key, deadline, async () => {
    const body = opened(failure, key, receiver);
    if ("ending" in body) return body;
    const parsed = parseEvent(body);
    if (isRefused(parsed))
      return failed("internal", new Error(`the stored body of ${keyText(key)} does not parse`));
    const version = failure.version as Version;
    const { eventType } = failure;
    const event = { key, json: parsed.object, body, bodySha256: failure.bodySha256, version, eventType };
    const watched = rehearsal === undefined ? {} : { rehearsal };
    return runEvent({ ...event, deadline, kind, mode, ...watched }, receiver);
  });
}

function opened(failure: StoredFailure, key: EventKey, { sealer }: Receiver): Uint8Array | Failed {
  try {
    return sealer.open(failure.sealedBody, sealContext(key));
  } catch (error) {
    return failed("internal", error);
  }
}

/** Whether a moment later the attempt could be made: the database was away, or somebody else was at work on the event. */
export function isForLater(outcome: Outcome): boolean {
  if (outcome.ending !== "failed" || !saysNothing(outcome)) return false;
  return outcome.code === "store_unavailable" || outcome.code === "event_in_progress";
}

const PAUSE_MS = 500;

/** An end that is not stored would look as if the process had ended during the attempt. */
async function settleInTime(run: FailureRun, outcome: Outcome, receiver: Receiver): Promise<void> {
  for (;;) {
    try {
      await settle(run, outcome, receiver);
      return;
    } catch (error) {
      if (run.stopping?.aborted || performance.now() + PAUSE_MS >= (run.leaseEnds ?? 0)) throw error;
      await sleep(PAUSE_MS, undefined, { signal: run.stopping }).catch(() => {});
    }
  }
}

async function settle(
  { failure, owner, kind, bulkReplayId }: FailureRun,
  outcome: Outcome,
  receiver: Receiver,
): Promise<void> {
  const { failures } = receiver.store;
  const key = { source: failure.source, eventId: failure.eventId };
  // A COMMIT whose answer was lost: mostly it has happened. Where it has not, the retry counts, or one that the database
  // cannot bear would be run for ever.
  const isUnknown = outcome.ending === "failed" && outcome.code === "commit_unknown";
  const found = isUnknown ? await lookedUp(key, receiver) : undefined;
  if (outcome.ending === "success" || outcome.ending === "already_processed" || found === "recorded") {
    // A success removed it with its commit; a duplicate's record was written by somebody else.
    await failures.remove(key);
    return;
  }
  if (saysNothing(outcome) || found === "unknown") {
    // It costs no retry; but it waits its turn, or it would keep the others from theirs.
    const later = new Date(receiver.clock.now().getTime() + receiver.rules.retry.delaySeconds * 1000);
    const triedBy = isForLater(outcome) ? undefined : bulkReplayId;
    await failures.release(key, owner, kind === "retry" ? later : undefined, triedBy);
    return;
  }
  const now = receiver.clock.now();
  // What a handler rejects will be rejected again, so such a failure waits for a person at once.
  const next =
    outcome.ending === "failed" ? nextAttemptAt(receiver.rules.retry, failure.retriesDone, now) : undefined;
  const error = outcome.ending === "failed" ? receiver.describe(outcome.cause) : outcome.message;
  await failures.reschedule(key, owner, {
    kind,
    code: outcome.code,
    error,
    now,
    nextAttemptAt: next ?? null,
    ...(bulkReplayId === undefined ? {} : { bulkReplayId }),
  });
}
