import {
  type AttemptOutcome,
  type EventKey,
  failed,
  isRefused,
  type JsonObject,
  plainKeyOf,
  sourceOf,
  success,
  type Version,
} from "../domain/index.ts";
import { storesEvents } from "../handlers/index.ts";
import { inSpan } from "../observability/tracing/index.ts";
import {
  type AttemptInput,
  DryRun,
  type Receiver,
  readOriginal,
  recordAttempt,
  runEvent,
  StaleReplay,
} from "../pipeline/index.ts";
import type { EventContent } from "../sources/index.ts";
import { type EventReplay, isErased, isErasedRow, type StoredRecord } from "../store/index.ts";
import { readStored } from "./backfill-events.ts";

/** Why a handled event was not run again, although nothing is wrong with it. */
export type SkipReason = "no_original" | "erased" | "ignored" | "no_handler" | "stale";

export interface SkippedReplay {
  readonly kind: "skipped";
  readonly reason: SkipReason;
  /** Says what is missing. */
  readonly message: string;
}

/** A replay that ran, or failed to. */
export interface EndedReplay {
  readonly kind: "ended";
  readonly outcome: AttemptOutcome;
  /** The record's before it. */
  readonly earlier: { readonly result: JsonObject | null; readonly processedAt: string | null };
}

/** `absent`: no event under this key was handled. */
export type HandledReplayResult = "absent" | SkippedReplay | EndedReplay;

export const SKIP_TEXTS: Readonly<Record<SkipReason, string>> = {
  no_original:
    "no original of this event is kept: it is past its `keep`, came while none were kept, or came without a callback",
  erased: "its payload was erased",
  ignored: "the filter of its source leaves it out today",
  no_handler:
    "its source has no handler: add one that takes its type, which then runs stored events with `oncehook backfill`",
  stale: new StaleReplay().message,
};

/**
 * Runs a handled event again for an operator: from its original, by today's contract and handler. One transaction holds
 * what the handler writes, the new result in the record, and the earlier one beside it. A run that fails changes nothing.
 * @param trigger of the attempt in the event's timeline
 */
export async function replayHandled(
  key: EventKey,
  replaces: EventReplay,
  receiver: Receiver,
  trigger: "replay" | "bulk" = "replay",
): Promise<HandledReplayResult> {
  const startedAt = receiver.clock.now();
  const startTick = performance.now();
  const result = await runAgain(key, { mode: "commit", replaces }, receiver);
  if (result === "absent" || result.kind === "skipped") return result;
  const ended = await asStored(key, replaces, result, receiver);
  const { source, eventId } = key;
  const durationMs = performance.now() - startTick;
  await recordAttempt({ source, eventId, trigger, startedAt, durationMs }, ended.outcome, receiver);
  return ended;
}

/**
 * The replay's row says what it replaced: another replay may have run since the record was read. It also says whether it
 * happened, where COMMIT's answer was lost.
 */
async function asStored(
  key: EventKey,
  { replay }: EventReplay,
  result: EndedReplay,
  { store }: Receiver,
): Promise<EndedReplay> {
  const row = await store.eventReplays.find(key, replay).catch(() => undefined);
  if (row === undefined) return result;
  const ended = { ...result, earlier: { result: row.earlierResult, processedAt: row.earlierProcessedAt } };
  if (result.outcome.kind !== "failed" || result.outcome.code !== "commit_unknown") return ended;
  const record = await store.find(key, performance.now() + LOOK_UP_MS).catch(() => undefined);
  return record?.result == null ? ended : { ...ended, outcome: success(record.result) };
}

const LOOK_UP_MS = 5_000;
/** A dry run leaves no row. */
const OF_DRY_RUN: EventReplay = { replay: "dry-run", actor: "", reason: "" };

/** The same in a transaction that is rolled back. It does no outside work. */
export async function dryRunHandled(
  key: EventKey,
  receiver: Receiver,
): Promise<"absent" | SkippedReplay | (EndedReplay & { readonly dryRun: DryRun })> {
  const dryRun = new DryRun();
  const result = await runAgain(key, { mode: "dry-run", dryRun, replaces: OF_DRY_RUN }, receiver);
  return result === "absent" || result.kind === "skipped" ? result : { ...result, dryRun };
}

type How = Pick<AttemptInput, "mode" | "dryRun"> & { readonly replaces: EventReplay };

async function runAgain(key: EventKey, how: How, receiver: Receiver): Promise<HandledReplayResult> {
  const deadline = performance.now() + receiver.settings.retry.timeLimitMs;
  const record = await receiver.store.find(key, deadline);
  if (record === undefined) return "absent";
  const input = await inputOf(record, receiver);
  if ("reason" in input) return input;
  const earlier = { result: record.result, processedAt: record.processedAt };
  if ("kind" in input) return { kind: "ended", outcome: input, earlier };
  const handler = receiver.registry.find(key.source, input.version, input.eventType);
  if (handler !== undefined && storesEvents(handler)) return skipped("no_handler");
  const span = receiver.tracer?.startAttempt(how.mode === "dry-run" ? "dry-run" : "replay", key, input.eventType);
  const attempt: AttemptInput = { ...input, ...how, key, deadline, kind: "replay" };
  const outcome = await inSpan(span, () => receiver.eventLock.run(key, deadline, () => runEvent(attempt, receiver)));
  const isStale = outcome.kind === "failed" && outcome.cause instanceof StaleReplay;
  return isStale ? skipped("stale") : { kind: "ended", outcome, earlier };
}

type FromOriginal = Pick<AttemptInput, "content" | "version" | "eventType" | "keptAt">;

/** The event as it came, read again. */
async function inputOf(
  record: StoredRecord,
  receiver: Receiver,
): Promise<FromOriginal | SkippedReplay | AttemptOutcome> {
  const { store, encryptor } = receiver;
  try {
    const original = await store.originals.find(record, encryptor);
    if (original === undefined) return await ofStored(record, receiver);
    if (isErased(original.body)) return skipped("erased");
    const read = readOriginal(original, receiver);
    if (isRefused(read)) return read;
    const [{ content } = {}] = read.events;
    const eventType = content?.typeOf() ?? record.eventType;
    if (content === undefined) return skipped("no_original");
    if (isRefused(eventType)) return eventType;
    if (read.source.contract.isWanted?.(content, eventType) === false) return skipped("ignored");
    return { content, version: record.version as Version, eventType, keptAt: new Date(original.receivedAt) };
  } catch (error) {
    // Such as the key that encrypted it, which is not configured any more.
    return failed("internal", error);
  }
}

/** From its row in `events`, which a backfill has run it from, where that has its data still. */
async function ofStored(
  record: StoredRecord,
  { store, sourcesByName }: Receiver,
): Promise<FromOriginal | SkippedReplay> {
  const row = await store.storedEvents.get(plainKeyOf(record));
  if (row === undefined) return skipped("no_original");
  if (isErasedRow(row)) return skipped("erased");
  const { content, version, eventType, receivedAt } = readStored(row);
  const contract = sourcesByName.get(sourceOf(record))?.contract;
  if (contract?.isWanted?.(content as EventContent, eventType) === false) return skipped("ignored");
  return { content, version, eventType, keptAt: receivedAt };
}

function skipped(reason: SkipReason): SkippedReplay {
  return { kind: "skipped", reason, message: SKIP_TEXTS[reason] };
}
