import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, DAY_MS, keyText } from "../domain/index.ts";
import { failureContext, orderKeyOf, type Receiver } from "../pipeline/index.ts";
import {
  type BackfilledEvent,
  type BackfillPosition,
  ErasedMeanwhile,
  type NewBackfill,
  type Store,
  type StoredBackfill,
} from "../store/index.ts";
import type { Encryptor } from "../system/index.ts";
import { withResult } from "./backfill-counts.ts";
import {
  type BackfillResult,
  type BackfillTarget,
  firstOfEach,
  handlerNameOf,
  type SortedItem,
  type SortingParts,
  sortOut,
} from "./backfill-events.ts";
import { type HistoryItem, historyOf } from "./backfill-history.ts";

export interface BackfillParts extends SortingParts, Pick<Receiver, "settings"> {
  readonly store: Store;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
}

export interface BackfillWork {
  /** Of its lease. */
  readonly owner: string;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
  /** Resolves when callbacks and events that wait leave room for more. */
  readonly giveWay?: () => Promise<void>;
  readonly onAccepted?: () => void;
}

/** Items are sorted out together, in a few look-ups. */
const ITEMS_AT_ONCE = 256;
const MOST_AT_ONCE = 64;
/** The work sees an operator's pause between two steps, so that one is a part of a second. */
const STEPS_PER_SECOND = 4;

/**
 * Works on a leased backfill until its history is through, an operator stops it, or the lease is lost. A second pass, once
 * the longest run is over, finds groups that had still to commit during the first one.
 * @returns it as it is then; undefined where the lease was lost
 */
export function workOn(
  leased: StoredBackfill,
  work: BackfillWork,
  parts: BackfillParts,
): Promise<StoredBackfill | undefined> {
  return new BackfillRun(work, parts).run(leased);
}

class BackfillRun {
  readonly #work: BackfillWork;
  readonly #parts: BackfillParts;
  /** Before the history was read. */
  #erasures = "";

  constructor(work: BackfillWork, parts: BackfillParts) {
    this.#work = work;
    this.#parts = parts;
  }

  async run(leased: StoredBackfill): Promise<StoredBackfill | undefined> {
    const { store, clock, settings } = this.#parts;
    const { owner, stopping } = this.#work;
    try {
      let backfill: StoredBackfill | undefined = leased;
      while (backfill?.state === "running" && !stopping.aborted) {
        backfill = await this.#wholePass(backfill);
        if (backfill?.state !== "running" || stopping.aborted) break;
        if (backfill.position.phase === "late")
          return (await store.backfills.finish(leased.id, owner, clock.now())) ?? store.backfills.get(leased.id);
        const dueAt = new Date(Date.parse(backfill.startedAt) + settings.retry.leaseMs);
        const second = { position: { phase: "late" }, counts: backfill.counts, dueAt } as const;
        backfill = await this.#advance(backfill, [], () => second);
        if (dueAt > clock.now()) break;
      }
      return backfill;
    } finally {
      await store.backfills.release(leased.id, owner);
    }
  }

  /** Reads on from the position that is stored, once payloads were erased that it may have read ahead. */
  async #wholePass(start: StoredBackfill): Promise<StoredBackfill | undefined> {
    const { backfills, valueIndex } = this.#parts.store;
    for (let backfill: StoredBackfill | undefined = start; ; backfill = await backfills.get(start.id)) {
      if (backfill?.state !== "running") return backfill;
      this.#erasures = await valueIndex.erasures();
      try {
        return await this.#pass(backfill);
      } catch (error) {
        if (!(error instanceof ErasedMeanwhile)) throw error;
      }
    }
  }

  /** From its position to the end of the history. */
  async #pass(start: StoredBackfill): Promise<StoredBackfill | undefined> {
    const { clock } = this.#parts;
    const { stopping, giveWay } = this.#work;
    const range = historyRange(start, start.position, new Date(start.startedAt), this.#parts);
    const history = historyOf(range, start.position, { ...this.#parts, now: clock.now() });
    const size = Math.min(MOST_AT_ONCE, Math.ceil(start.perSecond / STEPS_PER_SECOND));
    let backfill: StoredBackfill | undefined = start;
    for await (const items of inChunks(history)) {
      for (const step of stepsOf(await sortOut(items, start, this.#parts), size)) {
        await giveWay?.();
        const startedAt = performance.now();
        const before: StoredBackfill = backfill;
        backfill = await this.#step(before, step);
        if (backfill?.state !== "running" || stopping.aborted) return backfill;
        const dueAt = startedAt + (1_000 * (backfill.counts.accepted - before.counts.accepted)) / start.perSecond;
        await sleep(Math.max(0, dueAt - performance.now()), undefined, { signal: stopping }).catch(() => {});
      }
    }
    return backfill;
  }

  async #step(backfill: StoredBackfill, step: readonly SortedItem[]): Promise<StoredBackfill | undefined> {
    const { position } = step.at(-1) as SortedItem;
    const results = step.flatMap((item) => item.results);
    const taken = await this.#takeStored(results);
    const ofOriginals = results.flatMap((result) =>
      result.kind === "accepted" && result.target.storedSource === undefined ? [result.target] : [],
    );
    const advanced = await this.#advance(backfill, ofOriginals, (accepted) => {
      const isAccepted = ({ key }: BackfillTarget) => accepted.has(keyText(key)) || taken.has(keyText(key));
      const isFirst = firstOfEach();
      const ended = results.map((one): BackfillResult => {
        const isTaken = one.kind === "accepted" && !(isAccepted(one.target) && isFirst(one));
        return isTaken ? { kind: "alreadyTaken" } : one;
      });
      // The first pass has counted the others.
      const counted = position.phase === "late" ? ended.filter(({ kind }) => kind === "accepted") : ended;
      return { position, counts: counted.reduce(withResult, backfill.counts) };
    });
    if (advanced !== undefined && advanced.counts.accepted > backfill.counts.accepted) this.#work.onAccepted?.();
    return advanced;
  }

  /** Each in a transaction that takes the record of its storing away. @returns the keys of those taken now */
  async #takeStored(results: readonly BackfillResult[]): Promise<ReadonlySet<string>> {
    const { store, clock } = this.#parts;
    const taken = new Set<string>();
    for (const result of results) {
      if (result.kind !== "accepted" || result.target.storedSource === undefined) continue;
      const { target } = result;
      const event = { ...this.#acceptedEvent(target), storedSource: result.target.storedSource };
      if (await store.storedEvents.take(event, clock.now(), this.#erasures)) taken.add(keyText(target.key));
    }
    return taken;
  }

  #advance(
    { id }: StoredBackfill,
    targets: readonly BackfillTarget[],
    progressOf: Parameters<Store["backfills"]["accept"]>[2],
  ): Promise<StoredBackfill | undefined> {
    const { store, clock, settings } = this.#parts;
    const now = clock.now();
    const until = new Date(now.getTime() + settings.retry.leaseMs);
    const events = targets.map((target) => this.#acceptedEvent(target));
    return store.backfills.accept(
      { id, owner: this.#work.owner, until, erasures: this.#erasures },
      events,
      progressOf,
      now,
    );
  }

  #acceptedEvent(target: BackfillTarget): BackfilledEvent {
    const { key, content, version, eventType, receivedAt } = target;
    const { encryptor, registry } = this.#parts;
    const { body, bodySha256 } = content;
    const encryptedBody = encryptor.encrypt(body, failureContext(key));
    const orderKey = orderKeyOf(target, eventType, { registry });
    return { ...key, eventType, version, encryptedBody, bodySha256, orderKey, receivedAt };
  }
}

/** The part of the history that a pass reads. */
export function historyRange(
  asked: Pick<NewBackfill, "handler" | "eventType" | "since">,
  { phase }: Pick<BackfillPosition, "phase">,
  startedAt: Date,
  { sourcesByName, settings }: Pick<BackfillParts, "sourcesByName" | "settings">,
) {
  const { source } = handlerNameOf(asked.handler);
  const since = new Date(asked.since);
  // Without its record an event cannot be told from one that was handled. Sources without a signed time keep theirs.
  const days = sourcesByName.get(source)?.contract.hasSignedTime ? settings.recordRetentionDays : null;
  const oldest = days === null ? 0 : startedAt.getTime() - days * DAY_MS;
  // A second pass is for groups that were at work when the first one began.
  const latest = phase === "late" ? startedAt.getTime() - settings.retry.leaseMs : 0;
  const originalsSince = new Date(Math.max(since.getTime(), oldest, latest));
  return { source, type: asked.eventType ?? undefined, since, originalsSince, until: startedAt };
}

export async function* inChunks(items: AsyncIterable<HistoryItem>): AsyncGenerator<readonly HistoryItem[]> {
  let chunk: HistoryItem[] = [];
  for await (const item of items) {
    chunk.push(item);
    // At the end of a read nothing waits for more: the position moves, and the lease is renewed.
    if (chunk.length < ITEMS_AT_ONCE && item.kind !== "passed") continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Whole items, with at most so many events to accept, or those of one item. */
function* stepsOf(sorted: readonly SortedItem[], size: number): Generator<readonly SortedItem[]> {
  let step: SortedItem[] = [];
  let accepted = 0;
  for (const item of sorted) {
    step.push(item);
    accepted += item.results.filter(({ kind }) => kind === "accepted").length;
    if (accepted < size) continue;
    yield step;
    [step, accepted] = [[], 0];
  }
  if (step.length > 0) yield step;
}
