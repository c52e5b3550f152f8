import { failed, type Outcome, withoutHandler } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";
import { duplicateOutcome } from "./duplicate-outcome.ts";
import type { Delivery, Receiver } from "./receiver.ts";

/**
 * Claims what was signed for an event whose id is not signed: a body that was captured may come under any other id. The
 * first id owns it, whether its event is processed, waits, fails or is refused, so that no copy runs `prepare`, is
 * accepted, or takes the place of an event that is to be retried.
 * @returns how a copy under another id ends; undefined where the event may go on
 */
export async function claimBytes(delivery: Delivery, receiver: Receiver): Promise<Outcome | undefined> {
  const { key, content, contract, deadline } = delivery;
  if (contract.isIdSigned) return undefined;
  const { store, clock } = receiver;
  const { bodySha256, signedSha256 = bodySha256 } = content;
  // All handlers of an event share its claim.
  const claim = { source: withoutHandler(key.source), eventId: key.eventId };
  const owner = await store.signedBytes.claim(claim, signedSha256, clock.now());
  if (owner === key.eventId) return undefined;
  const record = await store.find({ source: key.source, eventId: owner }, deadline);
  if (record !== undefined) return duplicateOutcome(record, bodySha256, receiver);
  return failed(
    "event_in_progress",
    new Error(`the signed bytes belong to the event ${owner}, which is not processed yet`),
  );
}

/** Whether a duplicate may carry signed bytes that no event has claimed yet. */
export function mayHaveNewBytes({ content, contract }: Delivery, record: StoredRecord): boolean {
  if (contract.isIdSigned) return false;
  return content.signedSha256 !== undefined || content.bodySha256 !== record.bodySha256;
}
