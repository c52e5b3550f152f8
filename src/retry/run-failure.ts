import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttemptOutcome,
  failed,
  isRefused,
  keyText,
  nextAttemptAt,
  retryDelayMs,
  type Version,
} from "../domain/index.ts";
import { inSpan } from "../observability/tracing/index.ts";
import {
  type AttemptInput,
  failureContext,
  isInconclusive,
  lookUpRecord,
  type Receiver,
  recordAttempt,
  retryPolicyOf,
  runEvent,
  runUnread,
} from "../pipeline/index.ts";
import { parseEvent } from "../sources/index.ts";
import type { StoredFailure } from "../store/index.ts";

export interface FailureRun {
  readonly failure: StoredFailure;
  /** The holder of the failure's lease. */
  readonly owner: string;
  readonly kind: "accepted" | "retry" | "replay";
  /** The bulk replay that it is one of. */
  readonly bulkReplayId?: number | undefined;
  /** Storing the outcome is retried until then, on the scale of `performance.now()`; tried once where this is absent. */
  readonly leaseEndsAt?: number;
  /** Aborted when the process stops: it does not wait for a database that is away. */
  readonly stopping?: AbortSignal;
}

/** Runs a leased failure once more and stores the outcome: removed after success, otherwise put off, rescheduled or exhausted. */
export async function runFailure(run: FailureRun, receiver: Receiver): Promise<AttemptOutcome> {
  const { failure, kind, bulkReplayId } = run;
  const startedAt = receiver.clock.now();
  const startTick = performance.now();
  const outcome = await runStored(failure, { kind, mode: "commit", stopping: run.stopping }, receiver);
  const attempt = {
    source: failure.source,
    eventId: failure.eventId,
    trigger: bulkReplayId === undefined ? kind : "bulk",
    startedAt,
    durationMs: performance.now() - startTick,
    acceptedAt: new Date(failure.lastFailedAt),
  } as const;
  await Promise.all([storeUntilLeaseEnds(run, outcome, receiver), recordAttempt(attempt, outcome, receiver)]);
  return outcome;
}

/** The stored event through the same path as a callback's, after its signature: the bytes were verified then. */
export async function runStored(
  failure: StoredFailure,
  how: Pick<AttemptInput, "mode" | "dryRun" | "stopping"> & Pick<FailureRun, "kind">,
  receiver: Receiver,
): Promise<AttemptOutcome> {
  const key = { source: failure.source, eventId: failure.eventId };
  const deadline = performance.now() + receiver.settings.retry.timeLimitMs;
  const name = how.mode === "dry-run" ? "dry-run" : how.kind;
  const span = receiver.tracer?.startAttempt(name, key, failure.eventType);
  const run = () =>
    receiver.eventLock.run(key, deadline, async () => {
      let body: Uint8Array;
      try {
        body = receiver.encryptor.decrypt(failure.encryptedBody, failureContext(key));
      } catch (error) {
        return failed("internal", error);
      }
      const { bodySha256, eventType } = failure;
      const keptAt = new Date(failure.firstFailedAt);
      const attempt = { ...how, deadline, keptAt, version: failure.version as Version };
      if (eventType === "") return runUnread(failure, body, attempt, receiver);
      const parsed = parseEvent(body);
      if (isRefused(parsed)) return failed("internal", new Error(`the stored body of ${keyText(key)} does not parse`));
      const content = { json: parsed.object, body, bodySha256 };
      return runEvent({ ...attempt, key, content, eventType }, receiver);
    });
  return inSpan(span, run);
}

/** Whether the attempt may succeed a moment later: the database was away, or another delivery ran the event. */
export function isTransient(outcome: AttemptOutcome): boolean {
  if (outcome.kind !== "failed" || !isInconclusive(outcome)) return false;
  return ["store_unavailable", "event_in_progress", "handler_busy"].includes(outcome.code);
}

const PAUSE_MS = 500;

/** An outcome that is not stored would look as if the process had ended during the attempt. */
async function storeUntilLeaseEnds(run: FailureRun, outcome: AttemptOutcome, receiver: Receiver): Promise<void> {
  for (;;) {
    try {
      return await storeOutcome(run, outcome, receiver);
    } catch (error) {
      if (run.stopping?.aborted || performance.now() + PAUSE_MS >= (run.leaseEndsAt ?? 0)) throw error;
      await sleep(PAUSE_MS, undefined, { signal: run.stopping }).catch(() => {});
    }
  }
}

async function storeOutcome(
  { failure, owner, kind, bulkReplayId }: FailureRun,
  outcome: AttemptOutcome,
  receiver: Receiver,
): Promise<void> {
  const { failures, failureLeases } = receiver.store;
  // A COMMIT whose response was lost has mostly happened. Otherwise the retry counts: an event that breaks the
  // connection each time must not run for ever.
  const isUnknown = outcome.kind === "failed" && outcome.code === "commit_unknown";
  const lookUp = isUnknown ? await lookUpRecord(failure, receiver) : undefined;
  if (outcome.kind === "success" || outcome.kind === "already_processed" || lookUp === "recorded") {
    // A success removed it with its commit; another delivery wrote a duplicate's record.
    await failures.remove(failure);
    return;
  }
  const now = receiver.clock.now();
  const policy = retryPolicyOf(failure, receiver);
  if (isInconclusive(outcome) || lookUp === "unknown") {
    // It does not count as a retry, but waits like one: at once, it would keep the others from running.
    const later = new Date(now.getTime() + retryDelayMs(policy, failure.retriesDone, receiver.chance()));
    const triedBy = isTransient(outcome) ? undefined : bulkReplayId;
    return failureLeases.release(failure, owner, kind === "replay" ? undefined : later, triedBy);
  }
  // It would be rejected again until its cause is mended.
  const isRejected = outcome.kind === "refused";
  const next = isRejected ? undefined : nextAttemptAt(policy, failure.retriesDone, now, receiver.chance());
  const error = receiver.describeError(isRejected ? (outcome.detail ?? outcome.message) : outcome.cause);
  const again = { kind, code: outcome.code, error, now, nextAttemptAt: next ?? null };
  await failureLeases.reschedule(failure, owner, { ...again, isRejected, bulkReplayId });
}

/** A lease from now on, under a new owner. */
export function newLease({ clock, settings }: Receiver) {
  const { leaseMs } = settings.retry;
  const now = clock.now();
  const until = new Date(now.getTime() + leaseMs);
  return { owner: randomUUID(), now, until, leaseEndsAt: performance.now() + leaseMs };
}

/** Ends the attempts whose processes have ended, and logs how their events run next. */
export async function recoverInterrupted(receiver: Receiver): Promise<void> {
  const { store, clock, log, settings, registry, sourcesByName, chance } = receiver;
  const policies = [...sourcesByName.values()].flatMap(({ name, retry }) => [
    retry(),
    ...registry.handlers.filter(({ source }) => source === name).map((handler) => retry(handler.retry)),
  ]);
  const interrupted = await store.failureLeases.recover({
    now: clock.now(),
    leaseMs: settings.retry.leaseMs,
    longestDelayMs: Math.max(...policies.map((policy) => retryDelayMs(policy, policy.max, 1))),
    policyOf: (failure) => retryPolicyOf(failure, receiver),
    chance,
  });
  for (const { source, eventId, kind, isAlone, state, crashes } of interrupted) {
    const fields = { source, event_id: eventId, kind, alone: isAlone, state, process_ends: crashes };
    const next = state === "accepted" ? "it is run again" : "the next attempt runs alone";
    log.warn(fields, `the process ended during an attempt of this event; ${next}`);
  }
}
