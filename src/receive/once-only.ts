import { isRefused, type JsonObject, type Outcome, type Refused, type Version } from "../domain/index.ts";
import type { Deadline } from "../store/index.ts";
import { inPhase } from "../trace/index.ts";
import type { Receiver, Reception, RowOf } from "./callback.ts";
import { handledBefore } from "./handled-before.ts";
import type { Identified } from "./identify.ts";
import { keepFailure } from "./keep-failure.ts";
import { runEvent } from "./run-event.ts";
import { guardedRun } from "./single-flight.ts";

/** An authenticated delivery of an identified event. */
export interface Delivery extends Identified {
  /** The event's bytes, kept for a retry. */
  readonly body: Uint8Array;
  /** SHA-256 of what was sent, lowercase hex: tells a duplicate from another event under the same id. */
  readonly bodySha256: string;
  readonly version: Version;
  readonly deadline: Deadline;
  /** What the body held, for the log, where that is JSON. */
  readonly bodyJson?: JsonObject;
  /** Asked only for an event that was not handled before: a duplicate is one whatever its type (SPEC 4.1). */
  typeOf(): string | Refused;
}

interface Facts extends Omit<Reception, "outcome"> {
  readonly eventId: string;
  eventType?: string;
}

/** Phases (c) to (g) of SPEC 1.7, for callbacks and OAuth redirects alike. Deliveries of one event go one by one. */
export async function onceOnly(delivery: Delivery, receiver: Receiver, rowOf: RowOf): Promise<Reception> {
  const { key, bodySha256, bodyJson, deadline } = delivery;
  const facts: Facts = { eventId: key.eventId, ...(bodyJson && { bodyJson }) };

  // (c) the idempotency check.
  const lookUp = async (): Promise<Outcome | undefined> => {
    const record = await receiver.store.find(key, deadline);
    if (record === undefined) return undefined;
    facts.eventType = record.eventType;
    return handledBefore(record, bodySha256, receiver);
  };

  const process = async (hasWaited: boolean): Promise<Outcome> => {
    // Whoever waited for another delivery of the event looks again.
    const handled = hasWaited ? await lookUp() : undefined;
    if (handled !== undefined) return handled;

    // (d) dispatch on the event's type.
    const eventType = delivery.typeOf();
    if (isRefused(eventType)) return eventType;
    facts.eventType = eventType;

    // (e) run the handler, (f) mark the event processed and (g) log, in one transaction.
    const ended = (outcome: Outcome) => rowOf({ outcome, ...facts });
    const work = { ...delivery, eventType, kind: "inline", mode: "commit", rowOf: ended } as const;
    const result = await runEvent(work, receiver);

    // A failure is kept for its retry (SPEC 1.10) before the platform hears of it.
    if (result.ending === "failed") await keepFailure(work, result, receiver);
    return result;
  };

  // A record that comes to be between the two is found by the transaction itself.
  const run = async () => (await lookUp()) ?? receiver.flights.take(key, deadline, process);
  const outcome = await inPhase(receiver.tracer?.begin("once"), guardedRun, run);
  return { outcome, ...facts };
}
