import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Clock,
  createSourceCounts,
  DAY_MS,
  type Log,
  type PeriodCount,
  QUARTER_SECONDS,
  type SignatureCounts,
  signatureOf,
  sourceOf,
} from "../domain/index.ts";
import type { AlertKind, Alerts, Arrival, RefusedSources, StoredAlert } from "../store/index.ts";
import { createPoller, type Poller } from "../system/index.ts";
import { applyEndOfMute, applyTransition, isMuted } from "./apply-transition.ts";
import * as policy from "./policy.ts";
import { DAY, lastFullQuarter } from "./policy.ts";

export interface AlertDependencies {
  readonly store: Alerts;
  readonly refusedSources: Pick<RefusedSources, "list">;
  readonly kinds: ReadonlySet<AlertKind>;
  /** An accepted event that is older starts an alert. */
  readonly acceptedLimitMs: number;
  /** How many callbacks of a type must have come in a week before its silence can start an alert. */
  readonly silenceFloor: number;
  /** Set where all full quarter-hours were evaluated before: their counts have not changed. */
  readonly isSameQuarter?: boolean;
  /** Whether a handler for an event type exists; the silence of any other type is no fault. */
  readonly isHandled: (eventType: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export type ArrivalCounts = ReturnType<typeof createArrivalCounts>;

/**
 * The authentic callbacks that a process counts by event type until it stores them.
 * @param types the only event types that are counted, which bounds the number of rows
 */
export function createArrivalCounts(types: readonly string[]) {
  const countedTypes = new Set(types);
  const { add, take } = createSourceCounts();
  return {
    /** Counts one callback; without an event id it was not authentic. */
    note(
      source: string,
      { eventId, eventType }: { readonly [Name in "eventId" | "eventType"]?: string | undefined },
    ): void {
      if (eventId !== undefined && eventType !== undefined && countedTypes.has(eventType)) add(source, eventType);
    },
    take: (): Arrival[] => take().map(({ source, subject, count }) => ({ source, eventType: subject, count })),
    putBack(arrivals: readonly Arrival[]): void {
      for (const { source, eventType, count } of arrivals) add(source, eventType, count);
    },
  };
}

/** A round that runs a little early must not wait for the next one. */
const CLAIM_TOLERANCE = 0.9;
/** Four times a gap of a week, and the week before it. */
const KEPT_DAYS = 36;

interface AlertPoller extends Poller {
  /** One round, for a process without loops; evaluates no alert a second time within the interval. Never rejects. */
  roundWithin(intervalMs: number): Promise<void>;
}

/**
 * Stores this process's counts, and evaluates the alerts that no other process has evaluated in this round. A change and its
 * notification are one transaction, so that a process that dies leaves both or none.
 */
export function createAlertPoller(deps: AlertDependencies & { readonly arrivals: ArrivalCounts }): AlertPoller {
  const { store, arrivals, kinds, clock, log } = deps;
  let everyMs = 0;
  let deletedOn = 0;
  let evaluatedQuarter: number | undefined;

  async function round(): Promise<void> {
    const now = clock.now();
    if (kinds.has("silence")) await storeArrivals(now);
    for (const kind of (Object.keys(EVALUATE) as AlertKind[]).filter((one) => kinds.has(one))) {
      const observedSince = await store.claimEvaluation(kind, now, everyMs * CLAIM_TOLERANCE);
      if (observedSince === undefined) continue;
      const quarter = lastFullQuarter(now);
      const isSameQuarter = quarter === evaluatedQuarter;
      await evaluateAlerts({ ...deps, isSameQuarter }, kind, now, observedSince);
      if (kind === "signatures") evaluatedQuarter = quarter;
    }
  }

  async function storeArrivals(now: Date): Promise<void> {
    const taken = arrivals.take();
    try {
      await store.addArrivals(now, taken);
    } catch (error) {
      arrivals.putBack(taken);
      throw error;
    }
    const today = Math.floor(now.getTime() / DAY_MS);
    if (deletedOn === today) return;
    await store.deleteArrivalsBefore(today - KEPT_DAYS);
    deletedOn = today;
  }

  const failed = (error: unknown) => log.error({ err: error }, "evaluating alerts failed; the next round repeats it");
  const poller = createPoller(round, failed);
  return {
    roundWithin(intervalMs) {
      everyMs = intervalMs;
      return round().catch(failed);
    },
    start(intervalMs) {
      everyMs = intervalMs;
      poller.start(intervalMs);
    },
    rounds: poller.rounds,
    async stop() {
      await poller.stop();
      if (!kinds.has("silence")) return;
      await storeArrivals(clock.now()).catch((error: unknown) =>
        log.warn({ err: error }, "the alert on silence misses the callbacks of the last minute"),
      );
    },
  };
}

/** @param observedSince since when this kind has been evaluated without an interruption */
export async function evaluateAlerts(deps: AlertDependencies, kind: AlertKind, now: Date, observedSince: Date) {
  const alerts = await deps.store.list();
  const alertOf: Evaluation["alertOf"] = (source, subject = "", of = kind) =>
    alerts.find((one) => one.kind === of && one.source === source && one.subject === subject);
  const open = alerts.filter((alert) => alert.kind === kind && alert.isOpen);
  await EVALUATE[kind]({ ...deps, kind, alertOf, open, now, observedSince });
  await reportAfterMutes(deps, kind, now);
}

/** Reports how the alerts are whose mute has ended; the evaluation before it knew nothing of a report. */
async function reportAfterMutes({ store, log }: AlertDependencies, kind: AlertKind, now: Date): Promise<void> {
  const ended = (await store.list()).filter(
    (alert) => alert.kind === kind && alert.mute !== null && !isMuted(alert, now),
  );
  if (ended.length === 0) return;
  const { types } = kind === "failures" ? await store.exhausted(MAX_FAILURES, now) : { types: [] };
  for (const alert of ended) {
    const failing = types.find(({ source, eventType }) => source === alert.source && eventType === alert.subject);
    await applyEndOfMute({ store, log, now }, alert, failing?.count ?? alert.notifiedCount);
  }
}

interface Evaluation extends AlertDependencies {
  readonly kind: AlertKind;
  /** Of this kind, if no other is named. */
  readonly alertOf: (source: string, subject?: string, kind?: AlertKind) => StoredAlert | undefined;
  /** Those of this kind. */
  readonly open: readonly StoredAlert[];
  readonly now: Date;
  readonly observedSince: Date;
}

/** Signatures before silence: an open alert of theirs suppresses the silence of the same source. */
const EVALUATE: Record<AlertKind, (of: Evaluation) => Promise<void>> = {
  failures,
  accepted,
  signatures,
  silence,
};

const MAX_FAILURES = 10_000;

async function failures(evaluation: Evaluation): Promise<void> {
  const { store, alertOf, open, now } = evaluation;
  const { types, isComplete } = await store.exhausted(MAX_FAILURES, now);
  const present = types.map(({ source, eventType, count }) => ({ source, subject: eventType, count }));
  // The alert stays as it is while only muted problems are left.
  const failing = present.filter(({ count }) => count > 0);
  const ended = open
    .filter((alert) => !present.some((one) => one.source === alert.source && one.subject === alert.subject))
    .map((alert) => ({ ...alert, count: 0 }));
  for (const { source, subject, count } of [...failing, ...ended]) {
    const notified = alertOf(source, subject) ?? { isOpen: false, notifiedCount: 0, notifiedAt: now };
    const transition = policy.evaluateFailures(notified, { count, isComplete }, now);
    await applyTransition(evaluation, { source, subject, count }, transition);
  }
}

/** Each query holds up the event loop on SQLite, and these rows hold bodies. */
const MAX_ACCEPTED = 1_000;

/** One alert for a source: a cause that holds up one tenant or type mostly holds up the others too. */
async function accepted(evaluation: Evaluation): Promise<void> {
  const { store, open, now, acceptedLimitMs } = evaluation;
  const { sources, isComplete } = await store.oldestAccepted(MAX_ACCEPTED);
  const ages = new Map<string, number>();
  for (const { source: of, since } of sources) {
    const source = sourceOf({ source: of });
    ages.set(source, Math.max(ages.get(source) ?? 0, now.getTime() - since.getTime()));
  }
  for (const source of new Set([...ages.keys(), ...open.map((alert) => alert.source)])) {
    const isOpen = open.some((alert) => alert.source === source);
    const oldest = { ageMs: ages.get(source), isComplete };
    await applyTransition(evaluation, { source }, policy.evaluateAccepted(isOpen, oldest, acceptedLimitMs));
  }
}

async function signatures(evaluation: Evaluation): Promise<void> {
  const { store, refusedSources, alertOf, open, now, isSameQuarter } = evaluation;
  const started = new Set<string>();
  const muted = await store.mutedSources(now);
  for (const { source, message } of await refusedSources.list(now)) {
    if (muted.has(source) || alertOf(source)?.isOpen === true) continue;
    await applyTransition(evaluation, { source, message }, "starts");
    started.add(source);
  }
  if (isSameQuarter === true) return;
  const last = lastFullQuarter(now);
  const sources = await signatureCounts(store, last + 1 - DAY, last + 1);
  const counts = [...sources.values()].flatMap((quarters) => [...quarters.values()]);
  if (open.length === 0 && counts.every(({ wrong, unsigned }) => wrong + unsigned === 0)) return;
  const first = Math.ceil(((await store.firstOutcomeSlot()) ?? 0) / QUARTER_SECONDS);
  const shift = policy.comparedWith(last, first);
  const earlier = await signatureCounts(store, last + 1 - DAY - shift, last + 1 - shift);
  for (const [source, quarters] of sources) {
    if (started.has(source) || muted.has(source)) continue;
    const alert = alertOf(source);
    const bothDays = new Map([...(earlier.get(source) ?? []), ...quarters]);
    const changedIn = alert === undefined ? {} : { changedIn: policy.quarterOf(alert.notifiedAt) };
    const history = { last, shift, quarters: bothDays, isOpen: alert?.isOpen === true, ...changedIn };
    await applyTransition(evaluation, { source }, policy.evaluateSignatures(history));
  }
}

/** Each query holds up the event loop on SQLite, so that a day is read in short ones. */
const QUARTERS_A_QUERY = 12;

/** By source and quarter-hour, from `from` up to but not including `to`. */
async function signatureCounts(store: Alerts, from: number, to: number) {
  const sources = new Map<string, Map<number, SignatureCounts>>();
  const outcomes: PeriodCount[] = [];
  for (let start = from; start < to; start += QUARTERS_A_QUERY) {
    const end = Math.min(start + QUARTERS_A_QUERY, to);
    outcomes.push(...(await store.outcomes(start * QUARTER_SECONDS, end * QUARTER_SECONDS)));
    await nextTurn();
  }
  for (const { source, outcome, slot, count } of outcomes) {
    const signature = signatureOf(outcome);
    // Requests to no source's address have an empty source.
    if (signature === undefined || source === "") continue;
    const quarters = sources.get(source) ?? new Map<number, SignatureCounts>();
    const quarter = slot / QUARTER_SECONDS;
    const counts = quarters.get(quarter) ?? { authentic: 0, wrong: 0, unsigned: 0 };
    sources.set(source, quarters.set(quarter, { ...counts, [signature]: counts[signature] + count }));
  }
  return sources;
}

/** While the signatures of a source fail, all its types are silent: an evaluated signatures alert is enough. */
async function silence(evaluation: Evaluation): Promise<void> {
  const { store, alertOf, kinds, now, isHandled, silenceFloor, observedSince } = evaluation;
  const arrivals = await store.listArrivals();
  const types = Map.groupBy(arrivals, ({ source, eventType }) => JSON.stringify([source, eventType]));
  for (const days of types.values()) {
    const { source, eventType } = days[0] as (typeof days)[number];
    const key = { source, subject: eventType };
    const alert = alertOf(source, eventType);
    if (alert?.isOpen === true) {
      if (days.some(({ lastAt }) => lastAt >= alert.since)) await applyTransition(evaluation, key, "resolves");
      continue;
    }
    const signatures = kinds.has("signatures") ? alertOf(source, "", "signatures") : undefined;
    if (!isHandled(eventType) || signatures?.isOpen === true) continue;
    const limit = policy.silenceLimit(days, silenceFloor);
    if (limit !== undefined && policy.isSilent(limit, observedSince, now))
      await applyTransition(evaluation, key, "starts");
  }
}
