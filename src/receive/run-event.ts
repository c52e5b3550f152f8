import {
  type CallbackLogRow,
  type EventKey,
  isRefused,
  type JsonObject,
  type Outcome,
  refused,
  type Version,
} from "../domain/index.ts";
import type { AttemptKind } from "../handlers/index.ts";
import type { Deadline } from "../store/index.ts";
import { attempt } from "./attempt.ts";
import type { Receiver } from "./callback.ts";
import { validateEvent } from "./validate-event.ts";

/** An identified event that is about to be run: from a callback, the retry loop or an operator. */
export interface Work {
  readonly key: EventKey;
  readonly json: JsonObject;
  /** The bytes that were signed. */
  readonly body: Uint8Array;
  readonly bodySha256: string;
  readonly version: Version;
  readonly eventType: string;
  readonly deadline: Deadline;
  readonly kind: AttemptKind;
  /** `rehearse`: run it, then roll everything back. */
  readonly mode: "commit" | "rehearse";
  /** The log row that commits with a success, where the attempt answers a callback. */
  readonly rowOf?: (outcome: Outcome) => CallbackLogRow;
}

/** From a known type to an outcome: find the handler, validate, run once. The same for every kind of attempt. */
export async function runEvent(work: Work, receiver: Receiver): Promise<Outcome> {
  const handler = receiver.registry.find(work.version, work.eventType);
  if (handler === undefined) {
    return refused("event_type_unknown", { detail: `no handler for "${work.eventType}" in ${work.version}` });
  }
  const event = await validateEvent(work.json, work.eventType, handler, receiver);
  if (isRefused(event)) return event;
  const outcome = await attempt({ ...work, handler, event }, receiver);
  receiver.observer.attempted(work.kind, outcome);
  return outcome;
}
