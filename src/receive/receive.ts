import { alreadyProcessed, isRefused, type Outcome } from "../domain/index.ts";
import type { Callback, Receiver, Reception, RowOf } from "./callback.ts";
import { chooseType } from "./choose-type.ts";
import { type Identified, identify } from "./identify.ts";
import { keepFailure } from "./keep-failure.ts";
import { runEvent } from "./run-event.ts";
import { sha256Hex } from "./sha256.ts";

/**
 * The sequence of SPEC 1.7 for one callback, from its verified bytes to its outcome. What comes before, (a)
 * receiving bounded bytes over HTTPS, and after, (h) answering, is `http/`'s.
 */
export async function receive(callback: Callback, receiver: Receiver, rowOf: RowOf): Promise<Reception> {
  // (b) verify the signature, over the bytes as they arrived.
  const signer = callback.source.scheme.verify(callback);
  if (isRefused(signer)) return { outcome: signer };
  receiver.observer.secretUsed(signer.verified);

  // (c) the event's id, and whether it was handled before. Deliveries of one event go one by one.
  const identified = identify(callback.body, callback.source.name);
  if (isRefused(identified)) return { outcome: identified };
  const { key } = identified;
  const facts: { eventId: string; eventType?: string } = { eventId: key.eventId };
  const outcome = await receiver.flights.take(key, callback.deadline, async (): Promise<Outcome> => {
    const record = await receiver.store.find(key, callback.deadline);
    if (record !== undefined) {
      facts.eventType = record.eventType;
      if (record.bodySha256 !== sha256Hex(callback.body)) receiver.observer.bodyMismatch(key);
      return alreadyProcessed;
    }

    // (d) dispatch on the event's type.
    const type = chooseType(callback, identified, receiver);
    if (isRefused(type)) return type;
    facts.eventType = type;

    // (e) run the handler, (f) mark the event processed and (g) log, in one transaction.
    return attemptAndKeep(callback, identified, type, receiver, (ended) =>
      rowOf({ outcome: ended, ...facts }),
    );
  });
  return { outcome, ...facts };
}

/** A failure is kept for its retry (SPEC 1.10) before the platform hears of it. */
async function attemptAndKeep(
  callback: Callback,
  identified: Identified,
  eventType: string,
  receiver: Receiver,
  rowOf: (outcome: Outcome) => ReturnType<RowOf>,
): Promise<Outcome> {
  const { version, body, deadline } = callback;
  const work = {
    ...identified,
    version,
    eventType,
    body,
    deadline,
    kind: "inline",
    mode: "commit",
    rowOf,
  } as const;
  const outcome = await runEvent(work, receiver);
  if (outcome.ending === "failed") await keepFailure(work, outcome, receiver);
  return outcome;
}
