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
import { inSpan } from "../observability/tracing/index.ts";
import {
  type AttemptInput,
  failureContext,
  isInconclusive,
  lookUpRecord,
  parseEvent,
  type Receiver,
  runEvent,
} from "../pipeline/index.ts";
import type { AttemptTrigger, StoredFailure } from "../store/index.ts";

export interface FailureRun {
  readonly failure: StoredFailure;
  /** Who holds the failure's lease. */
  readonly owner: string;
  readonly kind: "retry" | "replay";
  /** The bulk replay that it is one of. */
  readonly bulkReplayId?: number | undefined;
  readonly timeLimitMs: number;
  /** Until then its end is offered to an absent database, on the scale of `performance.now()`; once where it is left out. */
  readonly leaseEndsAt?: number;
  /** Aborted when the process stops, which waits for no absent database. */
  readonly stopping?: AbortSignal;
}

/** Runs a leased failure once more and settles it: gone after a success, otherwise put off, rescheduled or exhausted. */
export async function runFailure(run: FailureRun, receiver: Receiver): Promise<Outcome> {
  const { failure, kind, bulkReplayId } = run;
  const startedAt = receiver.clock.now();
  const startTick = performance.now();
  const outcome = await runStored(failure, { kind, mode: "commit" }, run.timeLimitMs, receiver);
  const durationMs = performance.now() - startTick;
  const key = { source: failure.source, eventId: failure.eventId };
  const by = bulkReplayId === undefined ? kind : "bulk";
  await Promise.all([
    settleUntilLeaseEnds(run, outcome, receiver),
    recordAttempt({ key, trigger: by, startedAt, durationMs, outcome }, receiver),
  ]);
  return outcome;
}

/** The stored event through the same path as a callback's, after its signature: the bytes were verified then. */
export async function runStored(
  failure: StoredFailure,
  { kind, mode, dryRun }: Pick<AttemptInput, "mode" | "dryRun"> & Pick<FailureRun, "kind">,
  timeLimitMs: number,
  receiver: Receiver,
): Promise<Outcome> {
  const key = { source: failure.source, eventId: failure.eventId };
  const deadline = performance.now() + timeLimitMs;
  const phase = receiver.tracer?.startAttempt(mode === "dry-run" ? "dry-run" : kind, key, failure.eventType);
  const run = () =>
    receiver.eventLock.run(key, deadline, async () => {
      const body = decryptBody(failure, key, receiver);
      if ("kind" in body) return body;
      const parsed = parseEvent(body);
      if (isRefused(parsed))
        return failed("internal", new Error(`the stored body of ${keyText(key)} does not parse`));
      const version = failure.version as Version;
      const { eventType } = failure;
      const event = { key, json: parsed.object, body, bodySha256: failure.bodySha256, version, eventType };
      const watched = dryRun === undefined ? {} : { dryRun };
      return runEvent({ ...event, deadline, kind, mode, ...watched }, receiver);
    });
  return inSpan(phase, run);
}

function decryptBody(failure: StoredFailure, key: EventKey, { encryptor }: Receiver): Uint8Array | Failed {
  try {
    return encryptor.decrypt(failure.encryptedBody, failureContext(key));
  } catch (error) {
    return failed("internal", error);
  }
}

/** Whether the attempt may succeed a moment later: the database was away, or another delivery was at work on the event. */
export function isTransient(outcome: Outcome): boolean {
  if (outcome.kind !== "failed" || !isInconclusive(outcome)) return false;
  return outcome.code === "store_unavailable" || outcome.code === "event_in_progress";
}

const PAUSE_MS = 500;

/** An end that is not stored would look as if the process had ended during the attempt. */
async function settleUntilLeaseEnds(run: FailureRun, outcome: Outcome, receiver: Receiver): Promise<void> {
  for (;;) {
    try {
      await settle(run, outcome, receiver);
      return;
    } catch (error) {
      if (run.stopping?.aborted || performance.now() + PAUSE_MS >= (run.leaseEndsAt ?? 0)) throw error;
      await sleep(PAUSE_MS, undefined, { signal: run.stopping }).catch(() => {});
    }
  }
}

async function settle(
  { failure, owner, kind, bulkReplayId }: FailureRun,
  outcome: Outcome,
  receiver: Receiver,
): Promise<void> {
  const { failures, failureLeases } = receiver.store;
  const key = { source: failure.source, eventId: failure.eventId };
  // A COMMIT whose answer was lost: mostly it has happened. Where it has not, the retry counts, or one that the database
  // cannot bear would be run for ever.
  const isUnknown = outcome.kind === "failed" && outcome.code === "commit_unknown";
  const found = isUnknown ? await lookUpRecord(key, receiver) : undefined;
  if (outcome.kind === "success" || outcome.kind === "already_processed" || found === "recorded") {
    // A success removed it with its commit; another delivery wrote a duplicate's record.
    await failures.remove(key);
    return;
  }
  if (isInconclusive(outcome) || found === "unknown") {
    // It costs no retry; but it waits its turn, or it would keep the others from theirs.
    const later = new Date(receiver.clock.now().getTime() + receiver.settings.retry.delaySeconds * 1000);
    const triedBy = isTransient(outcome) ? undefined : bulkReplayId;
    await failureLeases.release(key, owner, kind === "retry" ? later : undefined, triedBy);
    return;
  }
  const now = receiver.clock.now();
  // What a handler rejects will be rejected again, so such a failure waits for a person at once.
  const next =
    outcome.kind === "failed" ? nextAttemptAt(receiver.settings.retry, failure.retriesDone, now) : undefined;
  const error = outcome.kind === "failed" ? receiver.describe(outcome.cause) : outcome.message;
  await failureLeases.reschedule(key, owner, {
    kind,
    code: outcome.code,
    error,
    now,
    nextAttemptAt: next ?? null,
    ...(bulkReplayId === undefined ? {} : { bulkReplayId }),
  });
}

interface FinishedAttempt {
  readonly key: EventKey;
  readonly trigger: AttemptTrigger;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: Outcome;
}

/**
 * Writes an attempt into its event's history, where the handler was run. What happened is said by the record and the failure; so
 * that a history that could not be written is no reason for anything else to fail.
 */
async function recordAttempt(
  { key, trigger, startedAt, durationMs, outcome }: FinishedAttempt,
  receiver: Receiver,
) {
  if (outcome.kind === "already_processed" || isInconclusive(outcome)) return;
  const { store, log } = receiver;
  const ended = {
    outcome: "code" in outcome ? outcome.code : outcome.kind,
    error: errorOf(outcome, receiver),
  };
  try {
    await store.attempts.append({ ...key, trigger, startedAt, durationMs, ...ended });
  } catch (error) {
    log.warn(
      { err: error, source: key.source, event_id: key.eventId, outcome: ended.outcome },
      "an attempt could not be written down; the time line of its event lacks it",
    );
  }
}

function errorOf(outcome: Outcome, { describe }: Receiver): string | null {
  if (outcome.kind === "failed") return describe(outcome.cause);
  return outcome.kind === "refused" ? describe(outcome.detail ?? outcome.message) : null;
}
