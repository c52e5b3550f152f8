import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type EventKey,
  failed,
  type JsonValue,
  keyText,
  type Outcome,
  readableError,
  refused,
} from "../domain/index.ts";
import { HandlerTimedOut, withTimeLimit } from "../handlers/index.ts";
import { inPhase } from "../trace/index.ts";
import type { Receiver } from "./callback.ts";
import { handledBefore } from "./handled-before.ts";
import { type Claim, keepPrepared } from "./keep-prepared.ts";
import type { AttemptWork } from "./work.ts";

const POLL_MS = 50;
/** A lease outlives its step by this much, for storing its result. */
const LEASE_MARGIN_MS = 10_000;
const STORING_MS = 6_000;
/**
 * Outside work that must not be cut off may go on for this long after the handler's time limit, and what it gives is
 * still kept for the next delivery.
 */
export const LATE_WORK_MS = 3_000;

export type Preparation =
  | { readonly state: "ready"; readonly value: JsonValue | undefined }
  | { readonly state: "ended"; readonly outcome: Outcome };

/**
 * The outside work of an event, done once: claimed by a lease, its result stored encrypted before the transaction
 * begins. A crash or a rollback after it finds the result; whoever completes the event deletes it.
 */
export async function prepareOnce(work: AttemptWork, receiver: Receiver): Promise<Preparation> {
  if (work.handler.prepare === undefined) return { state: "ready", value: undefined };
  return inPhase(receiver.tracer?.begin("prepare"), claimOrWait, work, receiver);
}

async function claimOrWait(work: AttemptWork, receiver: Receiver): Promise<Preparation> {
  const { key, deadline } = work;
  if (work.mode === "rehearse") return rehearsed(work, receiver);
  for (;;) {
    const leaseMs = receiver.rules.handlerTimeoutMs + LEASE_MARGIN_MS;
    const claim: Claim = { owner: randomUUID(), ends: performance.now() + leaseMs };
    const now = receiver.clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const claimed = await receiver.store.preparations.claim(key, { owner: claim.owner, now, until });
    if (claimed.state === "prepared") {
      receiver.unsaved.delete(keyText(key));
      return ready(unseal(claimed.sealed, work, receiver));
    }
    if (claimed.state === "claimed") return prepareClaimed(work, claim, receiver);
    // Another delivery has just completed the event, and deleted its preparation.
    const handled = claimed.state === "completed" ? await handledMeanwhile(work, receiver) : undefined;
    if (handled !== undefined) return handled;
    if (performance.now() + POLL_MS >= deadline) return inProgress("another delivery is preparing it");
    await sleep(POLL_MS);
  }
}

async function prepareClaimed(work: AttemptWork, claim: Claim, receiver: Receiver): Promise<Preparation> {
  const { key } = work;
  let text = receiver.unsaved.get(keyText(key));
  if (text === undefined) {
    try {
      text = JSON.stringify((await runPrepare(work, claim, receiver)) ?? null);
    } catch (error) {
      // What ran past its limit goes on outside: nobody may begin it anew before its end, or the lease's.
      if (!(error instanceof HandlerTimedOut)) await giveBack(key, claim, receiver);
      throw error;
    }
  }
  // From here on the outside work has happened, and what it gave must not be lost.
  const kept = await keepPrepared(key, claim, text, seal(text, work, receiver), receiver);
  if (kept === "saved") return ready(JSON.parse(text));
  if (kept === "unsaved") return { state: "ended", outcome: failed("store_unavailable", new Error(UNSAVED)) };
  return kept === "lost"
    ? inProgress("another delivery has begun it anew")
    : ready(unseal(kept, work, receiver));
}

/** Undefined where its record is gone again. */
async function handledMeanwhile(
  { key, deadline, bodySha256 }: AttemptWork,
  receiver: Receiver,
): Promise<Preparation | undefined> {
  const record = await receiver.store.find(key, deadline);
  if (record === undefined) return undefined;
  return { state: "ended", outcome: handledBefore(record, bodySha256, receiver) };
}

const UNSAVED = "the result of prepare could not be stored; this process keeps it for the next delivery";

/** Never beyond the lease: past it another delivery may begin the same work. */
async function runPrepare(
  work: AttemptWork,
  claim: Claim,
  receiver: Receiver,
): Promise<JsonValue | undefined> {
  const { event, key, version, handler } = work;
  const left = claim.ends - performance.now() - STORING_MS;
  const limit = Math.min(receiver.rules.handlerTimeoutMs, left);
  if (limit <= 0) throw new Error("the database took so long that the lease of prepare is all but over");
  const context = { event, source: key.source, version, log: receiver.log, tokens: receiver.tokens };
  let outside: Promise<JsonValue | undefined> | undefined;
  try {
    return await withTimeLimit(Math.ceil(limit), `prepare of "${event.event_type}"`, (time) => {
      outside = handler.prepare?.({
        ...context,
        get signal() {
          return time.signal;
        },
      });
      return outside;
    });
  } catch (error) {
    if (error instanceof HandlerTimedOut && outside !== undefined) keepLate(work, claim, outside, receiver);
    throw readableError(error);
  }
}

/** The result of outside work that ended after its time limit serves the next delivery all the same. */
function keepLate(
  work: AttemptWork,
  claim: Claim,
  outside: Promise<JsonValue | undefined>,
  receiver: Receiver,
): void {
  outside
    .then(async (value) => {
      const text = JSON.stringify(value ?? null);
      await keepPrepared(work.key, claim, text, seal(text, work, receiver), receiver);
    })
    .catch(() => giveBack(work.key, claim, receiver));
}

async function giveBack(key: EventKey, claim: Claim, { store, log }: Receiver): Promise<void> {
  await store.preparations.release(key, claim.owner).catch((cause: unknown) => {
    log.warn(
      { err: cause, event_id: key.eventId },
      "a preparation's lease could not be released; it expires",
    );
  });
}

/** A dry run does no outside work: it runs on what an earlier attempt prepared, or not at all. */
async function rehearsed(work: AttemptWork, receiver: Receiver): Promise<Preparation> {
  const sealed = await receiver.store.preparations.get(work.key);
  if (sealed !== undefined) return ready(unseal(sealed, work, receiver));
  const message = "a dry run does no outside work, and this event's prepare step has no stored result";
  return { state: "ended", outcome: refused("rejected", { message }) };
}

function ready(value: JsonValue): Preparation {
  return { state: "ready", value };
}

function inProgress(why: string): Preparation {
  return { state: "ended", outcome: failed("event_in_progress", new Error(why)) };
}

function seal(text: string, work: AttemptWork, { sealer }: Receiver): Uint8Array {
  return sealer.seal(Buffer.from(text), preparationContext(work.key));
}

function unseal(sealed: Uint8Array, work: AttemptWork, { sealer }: Receiver): JsonValue {
  return JSON.parse(Buffer.from(sealer.open(sealed, preparationContext(work.key))).toString("utf8"));
}

/** What the result of a prepare step is sealed for. */
export function preparationContext(key: EventKey): string {
  return `preparation ${keyText(key)}`;
}
