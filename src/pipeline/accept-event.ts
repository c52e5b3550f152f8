import { isRefused, type Outcome } from "../domain/index.ts";
import { type Lease, sealOriginal } from "../store/index.ts";
import { faultOutcome } from "./concurrency.ts";
import { orderKeyOf } from "./handler-slot.ts";
import { keepRefused } from "./keep-rejected.ts";
import { unwantedOutcome } from "./outcomes.ts";
import type { AttemptInput, Delivery, Receiver } from "./receiver.ts";
import { failureContext, recordAttempt } from "./store-failure.ts";

/**
 * Makes an event durable that no handler has run yet, so that its platform may have its response.
 * @param lease of the run in its callback that goes on meanwhile
 */
export async function acceptEvent(
  event: Pick<AttemptInput, "key" | "version" | "content" | "original">,
  eventType: string,
  { store, encryptor, clock, registry }: Pick<Receiver, "store" | "encryptor" | "clock" | "registry">,
  lease?: Lease,
): Promise<void> {
  const { key, version, content } = event;
  const { body, bodySha256 } = content;
  const now = clock.now();
  const encryptedBody = encryptor.encrypt(body, failureContext(key));
  const orderKey = orderKeyOf(event, eventType, { registry });
  const accepted = { ...key, eventType, version, encryptedBody, bodySha256, orderKey };
  const original = sealOriginal(accepted, event.original);
  await store.failures.accept({ ...accepted, nextAttemptAt: now, lease, original }, now);
}

/** Answer mode `after`: the event is durable, and the retry loop runs it at once. */
export async function acceptForLater(delivery: Delivery, receiver: Receiver): Promise<Outcome> {
  const eventType = delivery.content.typeOf();
  if (isRefused(eventType)) return keepRefused(delivery, "", eventType, receiver);
  try {
    const unwanted = unwantedOutcome(delivery, eventType, receiver);
    if (unwanted !== undefined) return unwanted;
    await acceptEvent(delivery, eventType, receiver);
  } catch (error) {
    return faultOutcome(error);
  }
  receiver.events.emit("accepted");
  return { kind: "accepted" };
}

/**
 * Stores how a run ended after its platform got its response. A failed or rejected event is kept already.
 * @param run with the owner of the lease that it holds on the accepted event
 */
export async function recordAcceptedRun(
  { key }: Delivery,
  { startedAt, leaseOwner }: { readonly startedAt: Date; readonly leaseOwner: string },
  outcome: Outcome,
  receiver: Receiver,
): Promise<void> {
  const { store, clock, log, events, concurrency } = receiver;
  const ended = concurrency.beginOutsideLimit();
  const now = clock.now();
  const durationMs = Math.max(0, now.getTime() - startedAt.getTime());
  try {
    await recordAttempt({ ...key, trigger: "accepted", startedAt, durationMs }, outcome, receiver);
    if (outcome.kind === "already_processed") await store.failures.remove(key);
    if (outcome.kind !== "success") await store.failureLeases.release(key, leaseOwner);
    // The next event of its key may run.
    events.emit("accepted");
  } catch (err) {
    // The event is still accepted, and its next run determines its outcome.
    log.error({ err, source: key.source, event_id: key.eventId }, "how an accepted event ended could not be stored");
  } finally {
    ended();
  }
}
