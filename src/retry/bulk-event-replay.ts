import type { AttemptOutcome } from "../domain/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import { bulkReplayName, type HandledEvent, type NewUnreplayedEvent, type StoredBulkReplay } from "../store/index.ts";
import { type BulkWork, batchSize, whileLeased } from "./bulk-batch.ts";
import { type HandledReplayResult, replayHandled } from "./replay-handled.ts";
import { isTransient } from "./run-failure.ts";

/** The process may end so often during an event that runs by itself; then it is noted as failed. */
const MAX_PROCESS_ENDS = 3;
const PROCESS_ENDED =
  "The process ended each time while this event was run again, alone. Look in the handler for an exit of the process, " +
  "an endless loop or large allocations, and in the log for a kill from outside.";

type EventEnd = "succeeded" | "absent" | "noted" | "later";

/**
 * The batches of a bulk replay of handled events. The events of a batch are written down before it begins. Those that an
 * ended process left are suspect, and each runs by itself. One that ends the process three times then is noted.
 */
export function createEventBatches(leased: StoredBulkReplay, work: Pick<BulkWork, "owner" | "receiver">) {
  const { owner, receiver } = work;
  const { bulkReplays, handledEvents } = receiver.store;
  const left = leased.atWork ?? { ids: [], ends: 0 };
  const lastSuspect = Math.max(0, ...left.ids);
  const endsOf = (id: number) => (left.ids.length === 1 && left.ids[0] === id ? left.ends + 1 : 0);

  /** @returns undefined at the end of the bulk replay */
  return async function runBatch(bulk: StoredBulkReplay) {
    const mayBeSuspect = bulk.afterId < lastSuspect;
    const due = await handledEvents.next(bulk, mayBeSuspect ? 1 : batchSize(bulk), receiver.clock.now());
    const [first] = due;
    if (first === undefined) return undefined;
    const isAlone = first.id <= lastSuspect;
    const ends = endsOf(first.id);
    await bulkReplays.beginBatch(bulk.id, owner, { ids: due.map(({ id }) => id), ends });
    const run = (event: HandledEvent) => runOne(bulk, event, receiver);
    const running = async (): Promise<EventEnd[]> => {
      if (ends >= MAX_PROCESS_ENDS) return [await note(bulk, first, PROCESS_END, receiver)];
      if (isAlone) return [await receiver.runLock.exclusive(() => run(first))];
      return Promise.all(due.map((event) => receiver.runLock.shared(() => run(event))));
    };
    const results = await whileLeased(bulk, { owner, receiver }, running());
    const count = (end: EventEnd) => results.filter((one) => one === end).length;
    const later = due.find((_, index) => results[index] === "later");
    const afterId = later === undefined ? (due.at(-1)?.id ?? bulk.afterId) : later.id - 1;
    const progress = { afterId, succeeded: count("succeeded"), alreadyHandled: count("absent") };
    return { progress, ran: due.length - count("later") };
  };
}

async function runOne(bulk: StoredBulkReplay, event: HandledEvent, receiver: Receiver): Promise<EventEnd> {
  const { id, createdBy: actor, reason } = bulk;
  const { source, eventId } = event;
  const fields = { bulk_replay: id, source, event_id: eventId };
  try {
    const replaces = { replay: bulkReplayName(id), actor, reason: reason ?? "" };
    const result = await replayHandled({ source, eventId }, replaces, receiver, "bulk");
    const end = await endOf(bulk, event, result, receiver);
    receiver.log.debug({ ...fields, end }, "a handled event of a bulk replay was run again");
    return end;
  } catch (error) {
    receiver.log.error({ ...fields, err: error }, "a replay of a bulk could not be run; it is tried again");
    return "later";
  }
}

async function endOf(
  bulk: StoredBulkReplay,
  event: HandledEvent,
  result: HandledReplayResult,
  receiver: Receiver,
): Promise<EventEnd> {
  if (result === "absent") return "absent";
  if (result.kind === "skipped")
    return note(bulk, event, { kind: "skipped", code: result.reason, error: result.message }, receiver);
  const { outcome } = result;
  // This replay has run it before its process ended.
  if (outcome.kind === "success" || outcome.kind === "already_processed") return "succeeded";
  if (isTransient(outcome)) return "later";
  return note(bulk, event, { kind: "failed", code: outcome.code, error: errorOf(outcome, receiver) }, receiver);
}

function errorOf(
  outcome: Extract<AttemptOutcome, { kind: "refused" | "failed" }>,
  { describeError }: Pick<Receiver, "describeError">,
): string {
  return describeError(outcome.kind === "failed" ? outcome.cause : (outcome.detail ?? outcome.message));
}

type Unreplayed = Pick<NewUnreplayedEvent, "kind" | "code" | "error">;

const PROCESS_END: Unreplayed = {
  kind: "failed",
  code: "process_ended",
  error: PROCESS_ENDED,
};

async function note(
  { id }: StoredBulkReplay,
  { source, eventId, eventType }: HandledEvent,
  why: Unreplayed,
  { store, clock }: Pick<Receiver, "store" | "clock">,
): Promise<EventEnd> {
  await store.handledEvents.noteUnreplayed(id, { source, eventId, eventType, ...why }, clock.now());
  return "noted";
}
