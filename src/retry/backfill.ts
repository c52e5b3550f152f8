import { setTimeout as sleep } from "node:timers/promises";
import type { Version } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import { type AttemptInput, failureContext, orderKeyOf } from "../pipeline/index.ts";
import { type Contract, sha256Hex } from "../sources/index.ts";
import { envelopeOf, type Store, type StoredEvent } from "../store/index.ts";
import { type Encryptor, systemClock } from "../system/index.ts";

export interface BackfillRequest {
  /** The source's name in the configuration. */
  readonly source: string;
  /** One type; every one that has a handler when left out. */
  readonly type?: string | undefined;
  /** The age of the oldest events, in milliseconds. */
  readonly sinceMs: number;
  readonly isDryRun: boolean;
  /** The rate at which events begin. */
  readonly perSecond: number;
}

/** Counts of events, once for each of their handlers. */
export interface BackfillReport {
  readonly source: string;
  /** Accepted for their handlers; in a dry run those that would be. */
  readonly accepted: number;
  readonly acceptedByType: Readonly<Record<string, number>>;
  /** A backfill has taken them before, or a delivery has run them since. */
  readonly alreadyTaken: number;
  /** Without a handler of their type, or left out by the source's filters. */
  readonly ignored: number;
  readonly ignoredByType: Readonly<Record<string, number>>;
  /** Of a dry run: the first events, run in transactions that were rolled back. None of a handler with `prepare`. */
  readonly sample: { readonly run: number; readonly failed: readonly SampleFailure[] };
  /** Of a dry run: handlers' migrations that it does not apply. With any of them it runs no sample. */
  readonly unapplied: readonly string[];
}

type SampleFailure = Readonly<Record<"type" | "id" | "reason", string>>;

const MOST_SAMPLED = 20;

/** A page reads the whole table, which has no index by time. */
const PAGE = 5_000;

export type SampledEvent = Pick<AttemptInput, "key" | "content" | "version" | "eventType">;

interface BackfillDependencies {
  readonly store: Store;
  readonly encryptor: Encryptor;
  readonly registry: Registry;
  readonly contract: Pick<Contract, "isWanted">;
  /** Runs an event in a transaction that is rolled back. @returns why it would fail */
  readonly sample: { run(event: SampledEvent): Promise<string | undefined> } | undefined;
}

/** Hands the stored events of a source to its handlers: each event is accepted, and a receiver runs it. */
export const backfill = (request: BackfillRequest, deps: BackfillDependencies) => new Backfill(request, deps).run();

class Backfill {
  readonly #request: BackfillRequest;
  readonly #deps: BackfillDependencies;
  readonly #counts = { accepted: 0, alreadyTaken: 0, ignored: 0 };
  readonly #byType = { accepted: {} as Record<string, number>, ignored: {} as Record<string, number> };
  readonly #sample = { run: 0, failed: [] as SampleFailure[] };
  readonly #startedAt = performance.now();

  constructor(request: BackfillRequest, deps: BackfillDependencies) {
    this.#request = request;
    this.#deps = deps;
  }

  async run(): Promise<Omit<BackfillReport, "unapplied">> {
    const { storedEvents } = this.#deps.store;
    const { source, type, sinceMs } = this.#request;
    const since = new Date(Math.max(0, systemClock.now().getTime() - sinceMs));
    let after: StoredEvent | undefined;
    for (let isOver = !(await storedEvents.exist()); !isOver; ) {
      const page = await storedEvents.page(source, { since, type, after, limit: PAGE });
      for (const event of page) await this.#handOver(event);
      after = page.at(-1);
      isOver = page.length < PAGE;
    }
    const { accepted: acceptedByType, ignored: ignoredByType } = this.#byType;
    return { source, ...this.#counts, acceptedByType, ignoredByType, sample: this.#sample };
  }

  #count(outcome: "accepted" | "ignored", type: string): void {
    this.#counts[outcome] += 1;
    this.#byType[outcome][type] = (this.#byType[outcome][type] ?? 0) + 1;
  }

  async #handOver(event: StoredEvent): Promise<void> {
    const { registry, contract, store } = this.#deps;
    const json = envelopeOf(event);
    const version = (event.version ?? "v1") as Version;
    const eventType = event.type;
    const isWanted = contract.isWanted?.({ json }, eventType) !== false;
    const sources = isWanted ? registry.keySources(event.source, version, eventType) : [];
    if (sources.length === 0) return this.#count("ignored", eventType);
    const body = Buffer.from(JSON.stringify(json));
    const content = { json, body, bodySha256: sha256Hex(body) };
    for (const source of sources) {
      const key = { source, eventId: event.id };
      const isTaken = await store.storedEvents.isTaken(key);
      if (!isTaken && (await this.#take(event, { key, content, version, eventType })))
        this.#count("accepted", eventType);
      else this.#counts.alreadyTaken += 1;
    }
  }

  async #take(stored: StoredEvent, event: SampledEvent): Promise<boolean> {
    const { key, content, version, eventType } = event;
    const { store, encryptor, registry, sample } = this.#deps;
    if (this.#request.isDryRun) {
      const hasPrepare = registry.find(key.source, version, eventType)?.prepare !== undefined;
      if (sample === undefined || hasPrepare || this.#sample.run === MOST_SAMPLED) return true;
      this.#sample.run += 1;
      const reason = await sample.run(event);
      if (reason !== undefined) this.#sample.failed.push({ type: eventType, id: stored.id, reason });
      return true;
    }
    const dueMs = this.#startedAt + (1_000 * this.#counts.accepted) / this.#request.perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
    return store.storedEvents.take(
      {
        ...key,
        eventType,
        version,
        encryptedBody: encryptor.encrypt(content.body, failureContext(key)),
        bodySha256: content.bodySha256,
        orderKey: orderKeyOf(event, eventType, { registry }),
        storedSource: stored.source,
        receivedAt: new Date(stored.receivedAt),
      },
      systemClock.now(),
    );
  }
}
