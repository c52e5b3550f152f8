import { failed, type Outcome, readableError, refused } from "../domain/index.ts";
import { HandlerTimedOut } from "../handlers/index.ts";
import { attempt } from "./attempt.ts";
import type { Receiver } from "./callback.ts";
import { validateEvent } from "./validate-event.ts";
import type { Work } from "./work.ts";

/** From a known type to an outcome: find the handler, validate, run once. The same for every kind of attempt. */
export async function runEvent(work: Work, receiver: Receiver): Promise<Outcome> {
  const handler = receiver.registry.find(work.version, work.eventType);
  if (handler === undefined) {
    return refused("event_type_unknown", { detail: `no handler for "${work.eventType}" in ${work.version}` });
  }
  // A schema is the user's code like the handler itself: when it throws, the event is kept and retried.
  const validation = validateEvent(work, handler, receiver);
  const event = await validation.catch((error: unknown) =>
    failed(error instanceof HandlerTimedOut ? "handler_timed_out" : "handler_failed", readableError(error)),
  );
  if ("ending" in event) return event;
  const outcome = await attempt({ ...work, handler, event }, receiver);
  receiver.observer.attempted(work.kind, outcome);
  return outcome;
}
