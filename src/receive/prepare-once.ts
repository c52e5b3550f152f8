import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { alreadyProcessed, failed, type JsonValue, keyText, type Outcome, refused } from "../domain/index.ts";
import { withTimeLimit } from "../handlers/index.ts";
import type { Receiver } from "./callback.ts";
import type { AttemptWork } from "./work.ts";

const POLL_MS = 50;
/** A lease outlives its step by this much, so that only a crash lets somebody else begin the step again. */
const LEASE_MARGIN_MS = 5_000;

export type Preparation =
  | { readonly state: "ready"; readonly value: JsonValue | undefined }
  | { readonly state: "ended"; readonly outcome: Outcome };

/**
 * The outside work of an event, done once: claimed by a lease, its result stored encrypted before the transaction
 * begins. A crash or a rollback after it finds the result; whoever completes the event deletes it.
 */
export async function prepareOnce(work: AttemptWork, receiver: Receiver): Promise<Preparation> {
  const { handler, key, deadline } = work;
  const { preparations } = receiver.store;
  if (handler.prepare === undefined) return { state: "ready", value: undefined };
  if (work.mode === "rehearse") return rehearsed(work, receiver);
  for (;;) {
    const owner = randomUUID();
    const claim = await preparations.claim(key, { owner, ...leaseTimes(receiver) });
    if (claim.state === "prepared") return { state: "ready", value: unseal(claim.sealed, work, receiver) };
    if (claim.state === "claimed") return prepareClaimed(work, owner, receiver);
    if (performance.now() + POLL_MS >= deadline) {
      return {
        state: "ended",
        outcome: failed("event_in_progress", new Error("another delivery is preparing it")),
      };
    }
    await sleep(POLL_MS);
  }
}

async function prepareClaimed(work: AttemptWork, owner: string, receiver: Receiver): Promise<Preparation> {
  const { key, event, version, handler } = work;
  const { store, log, rules } = receiver;
  try {
    // The claim may be new because another delivery has just completed the event and deleted its preparation.
    if ((await store.find(key, work.deadline)) !== undefined) {
      await store.preparations.release(key, owner);
      return { state: "ended", outcome: alreadyProcessed };
    }
    const context = { event, source: key.source, version, log };
    const value = await withTimeLimit(rules.handlerTimeoutMs, `prepare of "${event.event_type}"`, (signal) =>
      handler.prepare?.({ ...context, signal }),
    );
    const sealed = receiver.sealer.seal(Buffer.from(JSON.stringify(value ?? null)), contextOf(work));
    if (await store.preparations.save(key, owner, sealed)) return { state: "ready", value };
    const lost = new Error("prepare took longer than its lease, and another delivery has begun it anew");
    return { state: "ended", outcome: failed("event_in_progress", lost) };
  } catch (error) {
    await store.preparations.release(key, owner).catch((cause: unknown) => {
      log.warn(
        { err: cause, event_id: key.eventId },
        "a preparation's lease could not be released; it expires",
      );
    });
    throw error;
  }
}

/** A dry run does no outside work: it runs on what an earlier attempt prepared, or not at all. */
async function rehearsed(work: AttemptWork, receiver: Receiver): Promise<Preparation> {
  const sealed = await receiver.store.preparations.get(work.key);
  if (sealed !== undefined) return { state: "ready", value: unseal(sealed, work, receiver) };
  const message = "a dry run does no outside work, and this event's prepare step has no stored result";
  return { state: "ended", outcome: refused("rejected", { message }) };
}

function leaseTimes({ clock, rules }: Receiver): { now: Date; until: Date } {
  const now = clock.now();
  return { now, until: new Date(now.getTime() + rules.handlerTimeoutMs + LEASE_MARGIN_MS) };
}

function unseal(sealed: Uint8Array, work: AttemptWork, { sealer }: Receiver): JsonValue {
  return JSON.parse(Buffer.from(sealer.open(sealed, contextOf(work))).toString("utf8"));
}

function contextOf({ key }: AttemptWork): string {
  return `preparation ${keyText(key)}`;
}
