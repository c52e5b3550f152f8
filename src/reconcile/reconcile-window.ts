import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, type EventKey, errorReason, isRefused, VERSIONS } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import { acceptEvent, UNKNOWN_BYTES } from "../pipeline/index.ts";
import {
  ApiError,
  type Contract,
  type EventContent,
  type ListedEvent,
  type MissedCallback,
  type ReconcileWindow,
  type Reconciliation,
} from "../sources/index.ts";
import type { Store } from "../store/index.ts";
import type { Encryptor } from "../system/index.ts";

/** The outcome of an event that the platform lists. */
export type ReconcileOutcome =
  /** It never arrived; in a dry run nothing was done about it. */
  | "missing"
  /** It never arrived, and is durable now: the loop of accepted events runs it. */
  | "accepted"
  /** It has a record, or waits among the failures. */
  | "already_received"
  /** No handler takes its type, or the filters of its source leave it out. */
  | "ignored"
  /** It cannot be accepted; the next run tries again. */
  | "failed";

export interface ReconciledEvent {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly outcome: ReconcileOutcome;
  /** The reason of a failure. */
  readonly reason?: string;
  /** The source of an accepted event's row. */
  readonly callback?: MissedCallback;
}

export interface ReconciledSource {
  readonly name: string;
  /** The path at which its callbacks arrive. */
  readonly path: string;
  readonly contract: Contract;
  readonly api: Reconciliation;
}

export interface ReconcileDependencies {
  readonly source: ReconciledSource;
  readonly store: Store;
  readonly registry: Registry;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  /** Called for each event, and for an accepted one once it is durable. It must not throw. */
  readonly onEvent: (event: ReconciledEvent) => void;
}

export interface ReconcileRun {
  readonly window: ReconcileWindow;
  readonly isDryRun?: boolean;
  readonly cursor?: string | undefined;
  readonly maxPages: number;
  readonly signal: AbortSignal;
  /** Called after each event, so that a lease can be renewed. */
  readonly afterEvent?: () => Promise<void>;
  /** Called after each page but the last, with the counts so far and the cursor of the next page. */
  readonly afterPage?: (counts: ReconcileCounts, cursor: string) => Promise<void>;
}

export type ReconcileCounts = Readonly<Record<ReconcileOutcome, number>>;

export interface ReconcileResult {
  readonly counts: ReconcileCounts;
  /** The cursor to continue at, where the run has read as many pages as it may; undefined at the end. */
  readonly next: string | undefined;
}

/**
 * Checks every event that the platform lists in a window, and accepts those that never arrived. An event is durable
 * here, or still listed there: a run that is interrupted is repeated and loses nothing.
 * @throws ApiError, StoreError or the reason of the signal; what was accepted by then stays
 */
export async function reconcileWindow(run: ReconcileRun, deps: ReconcileDependencies): Promise<ReconcileResult> {
  const { window, maxPages, signal, cursor } = run;
  const counts = { missing: 0, accepted: 0, already_received: 0, ignored: 0, failed: 0 };
  const pause = async (ms: number, aborted: AbortSignal) => void (await sleep(ms, undefined, { signal: aborted }));
  let pages = 0;
  for await (const { events, next } of deps.source.api.list(window, { cursor, signal, pause })) {
    pages += 1;
    for (const event of events) {
      signal.throwIfAborted();
      const ended = await reconcileEvent(event, run.isDryRun ?? false, deps);
      counts[ended.outcome] += 1;
      deps.onEvent(ended);
      await run.afterEvent?.();
    }
    if (next === undefined) break;
    await run.afterPage?.(counts, next);
    if (pages === maxPages) return { counts, next };
  }
  return { counts, next: undefined };
}

async function reconcileEvent(
  listed: ListedEvent,
  isDryRun: boolean,
  deps: ReconcileDependencies,
): Promise<ReconciledEvent> {
  const { id, type, at } = listed;
  const { source } = deps;
  const ended = (outcome: ReconcileOutcome, more: object = {}) => ({ id, type, at, outcome, ...more });
  const failed = (reason: string) => ended("failed", { reason });
  if (id === "" || type === "") return failed("the platform lists it without an id or a type");
  const handled = handledBy(type, deps);
  if (handled === undefined) return ended("ignored");
  const { version, sources } = handled;
  const missing = await unknownKeys(id, sources, deps.store);
  if (missing.length === 0) return ended("already_received");
  const callback = await fetchCallback(listed);
  if (typeof callback === "string") return failed(callback);
  const content = readMissed(callback, listed, source);
  if (typeof content === "string") return failed(content);
  const isWanted = wanted(content, type, source);
  if (typeof isWanted === "string") return failed(isWanted);
  if (!isWanted) return ended("ignored");
  if (isDryRun) return ended("missing");
  const event = { version, content: { json: content.json, body: content.body, bodySha256: UNKNOWN_BYTES } };
  for (const one of missing) await acceptEvent({ ...event, key: one }, type, deps);
  return ended("accepted", { callback });
}

/** The first version that has handlers, and the sources of their keys: each has a record of its own. */
function handledBy(type: string, { registry, source }: ReconcileDependencies) {
  return VERSIONS.map((version) => ({
    version,
    sources: registry.keySources(source.name, version, type),
  })).find(({ sources }) => sources.length > 0);
}

const LOOK_UP_MS = 5_000;

async function unknownKeys(eventId: string, sources: readonly string[], store: Store): Promise<EventKey[]> {
  const unknown: EventKey[] = [];
  for (const source of sources) {
    const key = { source, eventId };
    const record = await store.find(key, performance.now() + LOOK_UP_MS);
    if (record === undefined && (await store.failures.get(key)) === undefined) unknown.push(key);
  }
  return unknown;
}

/** Whether the source's filters let the event through, as for a callback. @returns why one of them has failed */
function wanted(content: EventContent, type: string, { contract }: ReconciledSource): boolean | string {
  try {
    return contract.isWanted?.(content, type) !== false;
  } catch (error) {
    return `the filter of its source failed: ${errorReason(error)}`;
  }
}

/** @returns why there is none, where it has gone since it was listed */
async function fetchCallback({ callback }: ListedEvent): Promise<MissedCallback | string> {
  try {
    return await callback();
  } catch (error) {
    if (error instanceof ApiError && error.isAbsent) return error.message;
    throw error;
  }
}

/** The event as the source's own contract reads it. @returns why it cannot be the event that the platform listed */
function readMissed(
  callback: MissedCallback,
  { id, type }: ListedEvent,
  source: ReconciledSource,
): EventContent | string {
  const read = source.contract.read({ method: "POST", target: source.path, ...callback });
  if (isRefused(read)) return `its body is refused: ${read.code}: ${read.detail ?? read.message}`;
  if (read.kind !== "event") return `its body is read as a ${read.kind}, and not as an event`;
  const { event } = read;
  if (event.eventId !== id)
    return `its body has the id ${JSON.stringify(event.eventId)}: a callback of it would have another record`;
  const readType = event.typeOf();
  if (isRefused(readType)) return `its type is refused: ${readType.message}`;
  return readType === type ? event : `its body has the type ${JSON.stringify(readType)}`;
}
