import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttemptOutcome,
  type EventKey,
  failed,
  type JsonValue,
  keyText,
  refused,
  sourceOf,
  tenantOf,
} from "../domain/index.ts";
import { HandlerTimedOut, SharedTimeLimit, withSignal } from "../handlers/index.ts";
import { inSpan } from "../observability/tracing/index.ts";
import { preparationKeyOf } from "../store/index.ts";
import { duplicateOutcome } from "./outcomes.ts";
import type { Receiver, ValidatedAttempt } from "./receiver.ts";

const POLL_INTERVAL_MS = 50;
/** A lease outlives its step by this much, for storing its result. */
const LEASE_MARGIN_MS = 10_000;
const STORE_TIMEOUT_MS = 6_000;
/** Outside work may go on for this long after the handler's time limit. Its result is kept for the next delivery. */
export const LATE_WORK_MS = 3_000;

/** The result of an event's prepare step, or the outcome of an attempt that ended without one. */
export type Preparation = { readonly value: JsonValue | undefined } | AttemptOutcome;

/**
 * The outside work of an event, done once: claimed by a lease, its result stored encrypted before the transaction
 * begins. After a crash or a rollback the result is found; the delivery that completes the event deletes it.
 */
export async function prepareOnce(attempt: ValidatedAttempt, receiver: Receiver): Promise<Preparation> {
  return inSpan(receiver.tracer?.startSpan("prepare"), leaseOrWait, attempt, receiver);
}

async function leaseOrWait(attempt: ValidatedAttempt, receiver: Receiver): Promise<Preparation> {
  const { deadline, content, mode, stopping, replaces } = attempt.input;
  const key = preparationKeyOf(attempt.input.key, replaces);
  if (mode === "dry-run") return preparedForDryRun(key, receiver);
  for (;;) {
    const leaseMs = receiver.settings.handlerTimeoutMs + LEASE_MARGIN_MS;
    const lease: PrepareLease = { owner: randomUUID(), endsAt: performance.now() + leaseMs };
    const now = receiver.clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const claimed = await receiver.store.preparations.claim(key, { owner: lease.owner, now, until });
    if (claimed.state === "prepared") {
      receiver.unsavedPreparations.delete(keyText(key));
      return decrypted(claimed.encrypted, key, receiver);
    }
    if (claimed.state === "claimed") return prepareUnderLease(attempt, lease, receiver);
    // Another delivery has just completed the event, and deleted its preparation. Retention may have deleted the record.
    const record = claimed.state === "completed" ? await receiver.store.find(key, deadline) : undefined;
    if (record !== undefined) return duplicateOutcome(record, content.bodySha256, receiver);
    if (stopping?.aborted || performance.now() + POLL_INTERVAL_MS >= deadline)
      return failed("event_in_progress", new Error("another delivery is preparing it"));
    await sleep(POLL_INTERVAL_MS, undefined, { signal: stopping }).catch(() => {});
  }
}

async function prepareUnderLease(attempt: ValidatedAttempt, lease: PrepareLease, receiver: Receiver) {
  const key = preparationKeyOf(attempt.input.key, attempt.input.replaces);
  let text = receiver.unsavedPreparations.get(keyText(key));
  if (text === undefined) {
    try {
      text = JSON.stringify((await runPrepare(attempt, lease, receiver)) ?? null);
    } catch (error) {
      // Work past its time limit goes on: no other delivery may start it before it ends, or the lease does.
      if (!(error instanceof HandlerTimedOut)) await releaseLease(key, lease, receiver);
      throw error;
    }
  }
  // From here on the outside work has happened, and what it gave must not be lost.
  const kept = await savePrepared(key, lease, text, receiver);
  if (kept === "saved") return { value: JSON.parse(text) };
  if (kept === "unsaved") return failed("store_unavailable", new Error(UNSAVED));
  if (kept === "lost") return failed("event_in_progress", new Error("another delivery has started it again"));
  return decrypted(kept, key, receiver);
}

const UNSAVED = "the result of prepare could not be stored; this process keeps it for the next delivery";

/** Never beyond the lease: past it another delivery may begin the same work. */
async function runPrepare(attempt: ValidatedAttempt, lease: PrepareLease, receiver: Receiver) {
  const { event, input, handler } = attempt;
  const { version, replaces } = input;
  const key = preparationKeyOf(input.key, replaces);
  // Whole milliseconds: sums of the clock's fractions are inexact.
  const left = Math.round(lease.endsAt - performance.now()) - STORE_TIMEOUT_MS;
  if (left <= 0) throw new Error("the database took so long that the lease of prepare has almost expired");
  const limit = left < receiver.settings.handlerTimeoutMs ? new SharedTimeLimit(left) : receiver.handlerLimit;
  const { log, tokens } = receiver;
  const context = { event, source: sourceOf(key), tenant: tenantOf(key), version, log, tokens };
  let pending: Promise<JsonValue | undefined> | undefined;
  try {
    return await limit.run(`prepare of "${event.event_type}"`, (time) => {
      pending = handler.prepare?.(withSignal({ ...context }, time));
      return pending;
    });
  } catch (error) {
    if (error instanceof HandlerTimedOut && pending !== undefined) saveLateResult(key, lease, pending, receiver);
    throw error;
  }
}

/** The result of outside work that ended after its time limit serves the next delivery all the same. A stop waits for it. */
function saveLateResult(
  key: EventKey,
  lease: PrepareLease,
  outside: Promise<JsonValue | undefined>,
  receiver: Receiver,
): void {
  const ended = receiver.concurrency.beginOutsideLimit();
  // It may never settle, and must not keep a stop from its end.
  const late = setTimeout(ended, LATE_WORK_MS);
  outside
    .finally(() => clearTimeout(late))
    .then(async (value) => void (await savePrepared(key, lease, JSON.stringify(value ?? null), receiver)))
    .catch(() => releaseLease(key, lease, receiver))
    .finally(ended);
}

async function releaseLease(key: EventKey, lease: PrepareLease, { store, log }: Receiver): Promise<void> {
  await store.preparations.release(key, lease.owner).catch((cause: unknown) => {
    log.warn({ err: cause, event_id: key.eventId }, "a preparation's lease could not be released; it expires");
  });
}

/** A dry run does no outside work: it runs on what an earlier attempt prepared, or not at all. */
async function preparedForDryRun(key: EventKey, receiver: Receiver): Promise<Preparation> {
  const encrypted = await receiver.store.preparations.get(key);
  if (encrypted !== undefined) return decrypted(encrypted, key, receiver);
  const message = "a dry run does no outside work, and this event's prepare step has no stored result";
  return refused("rejected", { message });
}

function decrypted(encrypted: Uint8Array, key: EventKey, { encryptor }: Receiver): Preparation {
  const text = Buffer.from(encryptor.decrypt(encrypted, preparationContext(key))).toString("utf8");
  return { value: JSON.parse(text) };
}

export function preparationContext(key: EventKey): string {
  return `preparation ${keyText(key)}`;
}

const RETRY_PAUSE_MS = 100;
const MAX_UNSAVED = 1_000;
const LOOK_UP_TIMEOUT_MS = 1_000;
const KEPT_IN_MEMORY = "the result of prepare could not be stored; it is kept in memory";
const DROPPED =
  `memory holds ${MAX_UNSAVED} results of prepare that could not be stored; this one, the oldest, is dropped: unless ` +
  "another process has completed the event, its next delivery runs prepare again";

/** The lease of a prepare step: its owner, and its end on the scale of `performance.now()`. */
interface PrepareLease {
  readonly owner: string;
  readonly endsAt: number;
}

/**
 * Stores the result of `prepare`, again and again while the lease lasts: an exchanged authorization code works no
 * second time. Storing twice does no harm, since only the lease's owner may.
 * @returns "saved"; the other delivery's encrypted result if that was faster; "lost" with the lease; "unsaved" when the
 *   database stayed unavailable. After "lost" and "unsaved", this process keeps the result in memory for the next
 *   delivery
 */
export async function savePrepared(
  key: EventKey,
  lease: PrepareLease,
  text: string,
  receiver: Receiver,
): Promise<"saved" | "unsaved" | "lost" | Uint8Array> {
  const { store, log, unsavedPreparations } = receiver;
  const encrypted = receiver.encryptor.encrypt(Buffer.from(text), preparationContext(key));
  for (;;) {
    try {
      if (await store.preparations.save(key, lease.owner, encrypted)) {
        unsavedPreparations.delete(keyText(key));
        return "saved";
      }
      return await resultOfOther(key, text, receiver);
    } catch (error) {
      if (performance.now() < lease.endsAt) {
        await sleep(RETRY_PAUSE_MS);
        continue;
      }
      log.error({ err: error, event_id: key.eventId }, KEPT_IN_MEMORY);
      keepInMemory(key, text, receiver);
      return "unsaved";
    }
  }
}

/** Keeps this result until the other delivery stores one: an authorization code works once, so its work may fail. */
async function resultOfOther(key: EventKey, text: string, receiver: Receiver): Promise<"lost" | Uint8Array> {
  const { store, unsavedPreparations } = receiver;
  const theirs = await store.preparations.get(key);
  const isRecorded =
    theirs === undefined && (await store.find(key, performance.now() + LOOK_UP_TIMEOUT_MS)) !== undefined;
  if (theirs !== undefined || isRecorded) unsavedPreparations.delete(keyText(key));
  else keepInMemory(key, text, receiver);
  return theirs ?? "lost";
}

/** When there are too many, the oldest goes: the likeliest to be of an event that another process has completed. */
function keepInMemory(key: EventKey, text: string, { unsavedPreparations, log }: Receiver): void {
  unsavedPreparations.delete(keyText(key));
  const [oldest] = unsavedPreparations.keys();
  if (unsavedPreparations.size >= MAX_UNSAVED && oldest !== undefined) {
    unsavedPreparations.delete(oldest);
    log.error({ event_id: oldest.slice(oldest.indexOf("\u0000") + 1) }, DROPPED);
  }
  unsavedPreparations.set(keyText(key), text);
}
