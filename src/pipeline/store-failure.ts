import {
  type EventKey,
  type Failed,
  givesUpAt,
  keyText,
  nextAttemptAt,
  type Outcome,
  PLATFORM,
  type RetryPolicy,
  sourceOf,
  type Version,
} from "../domain/index.ts";
import { type NewAttempt, type StoredFailure, StoreError, sealOriginal } from "../store/index.ts";
import { EncryptionKeyMissing } from "../system/index.ts";
import { orderKeyOf } from "./handler-slot.ts";
import type { AttemptInput, Receiver, Source } from "./receiver.ts";

/**
 * Whether the handler started. It did not where the database was not reached, or another delivery or event is at work.
 * Such an outcome is inconclusive, is not stored and does not count as a retry.
 */
function handlerStarted({ code, cause }: Failed): boolean {
  if (code === "event_in_progress" || code === "handler_busy") return false;
  return code !== "store_unavailable" || (cause instanceof StoreError && cause.handlerStarted);
}

/**
 * An attempt is inconclusive without the database, a handler for the type in this process, or the event's encryption
 * key. The event was valid when it was accepted. So a start with another configuration must not end its retries.
 */
export function isInconclusive(outcome: Outcome): boolean {
  if (outcome.kind === "refused") return outcome.code === "event_type_unknown";
  if (outcome.kind !== "failed") return false;
  // A handler that lacks another key, such as that of a user's tokens, has another code: it ran and failed.
  const isBodyUndecryptable = outcome.code === "internal" && outcome.cause instanceof EncryptionKeyMissing;
  return isBodyUndecryptable || !handlerStarted(outcome);
}

/** The retries of an event: those of its handler where it has some, else those of its source. */
export function retryPolicyOf(
  { source, version, eventType }: Pick<StoredFailure, "source" | "version" | "eventType">,
  { registry, sourcesByName }: Pick<Receiver, "registry" | "sourcesByName">,
): RetryPolicy {
  const { retry } = (sourcesByName.get(sourceOf({ source })) ?? sourcesByName.get(PLATFORM)) as Source;
  return retry(registry.find(source, version as Version, eventType)?.retry);
}

/** When the last retry comes, in ISO 8601; null where none is left. A first attempt that is still due is no retry. */
export function givesUpAtOf(
  failure: StoredFailure,
  receiver: Pick<Receiver, "registry" | "sourcesByName">,
): string | null {
  const { nextAttemptAt, state, retriesDone } = failure;
  if (nextAttemptAt === null) return null;
  const retriesBefore = state === "accepted" ? -1 : retriesDone;
  return givesUpAt(retryPolicyOf(failure, receiver), retriesBefore, new Date(nextAttemptAt)).toISOString();
}

/**
 * Writes a failed event, encrypted, to `failures`, where the retry loop finds it (SPEC 1.10, 8).
 * @returns whether its effect comes without its platform: it is committed, or a retry of ours is
 */
export async function storeFailure(input: AttemptInput, outcome: Failed, receiver: Receiver): Promise<boolean> {
  if (!handlerStarted(outcome)) return false;
  const { key, eventType, version, content } = input;
  const { body, bodySha256 } = content;
  const isUnknown = outcome.code === "commit_unknown";
  // COMMIT has usually happened, and there is nothing to retry. If it is not visible yet, the retry finds it.
  if (isUnknown && (await lookUpRecord(key, receiver)) === "recorded") return true;
  const now = receiver.clock.now();
  const retry = retryPolicyOf({ source: key.source, version, eventType }, receiver);
  // One retry must find out whether it committed, even where none is configured.
  const policy = isUnknown ? { ...retry, max: Math.max(1, retry.max) } : retry;
  const next = nextAttemptAt(policy, 0, now, receiver.chance());
  try {
    await receiver.store.failures.record(
      {
        ...key,
        eventType,
        version,
        code: outcome.code,
        error: receiver.describeError(outcome.cause),
        encryptedBody: receiver.encryptor.encrypt(body, failureContext(key)),
        bodySha256,
        orderKey: orderKeyOf(input, eventType, receiver),
        nextAttemptAt: next ?? null,
        firstFailedAt: input.keptAt,
        original: sealOriginal({ ...key, eventType, version }, input.original),
      },
      now,
    );
    return next !== undefined;
  } catch (error) {
    // The platform gets 500, so its redelivery replaces our retry.
    receiver.log.error({ err: error, event_id: key.eventId }, "the failure could not be stored for a retry");
    return false;
  }
}

const LOOK_UP_MS = 5_000;

/** Whether a COMMIT happened whose answer was lost. It has another deadline than the request, whose may have passed. */
export async function lookUpRecord(key: EventKey, { store }: Receiver): Promise<"recorded" | "absent" | "unknown"> {
  try {
    const record = await store.find(key, performance.now() + LOOK_UP_MS);
    return record === undefined ? "absent" : "recorded";
  } catch {
    return "unknown";
  }
}

export function failureContext(key: AttemptInput["key"]): string {
  return `failure ${keyText(key)}`;
}

/**
 * Writes an attempt into its event's history, where the handler was run. The record and the failure say what happened.
 * So an attempt that could not be written makes nothing else fail.
 * @param attempt `acceptedAt` of an accepted event's first one, where that was not when the attempt began
 */
export async function recordAttempt(
  { acceptedAt, ...attempt }: Omit<NewAttempt, "outcome" | "error"> & { readonly acceptedAt?: Date },
  ended: Outcome,
  { store, log, describeError, observer }: Receiver,
): Promise<void> {
  if ((ended.kind !== "success" && !("code" in ended)) || isInconclusive(ended)) return;
  if (attempt.trigger === "accepted" && ended.kind !== "success")
    observer.acceptedFailed(attempt, acceptedAt ?? attempt.startedAt, ended.kind !== "failed");
  const outcome = ended.kind === "success" ? ended.kind : ended.code;
  let error: string | null = null;
  if (ended.kind === "failed") error = describeError(ended.cause);
  else if (ended.kind !== "success") error = describeError(ended.detail ?? ended.message);
  try {
    await store.attempts.append({ ...attempt, outcome, error });
  } catch (err) {
    const { source, eventId: event_id } = attempt;
    const message = "an attempt could not be stored; the timeline of its event lacks it";
    log.warn({ err, source, event_id, outcome }, message);
  }
}
