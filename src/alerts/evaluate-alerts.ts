import type { Clock, JsonObject, Log } from "../domain/index.ts";
import type { AlertKey, AlertKind, Alerts, ArrivalSubject, StoredAlert } from "../store/index.ts";
import type { ArrivalCounts } from "./arrival-counts.ts";
import { AUTHENTIC, TYPE_PREFIX } from "./arrival-counts.ts";
import { signatureHistory, silenceHistory } from "./histories.ts";
import {
  type AlertTransition,
  evaluateFailures,
  evaluateSignatures,
  evaluateSilence,
  slotOf,
} from "./policy.ts";

/** More exhausted failures than these are told of, and not counted. */
const FAILURES_LOOKED_AT = 10_000;

/** One turn: every kind of alert that is switched on. */
export async function evaluateAlerts(deps: AlertDependencies, now: Date): Promise<void> {
  const standing = createStoredAlerts(await deps.store.list());
  if (deps.kinds.has("failures")) await failures(deps, standing, now);
  const subjects = await deps.store.subjects();
  if (deps.kinds.has("signatures")) await signatures(deps, standing, subjects, now);
  if (deps.kinds.has("silence")) await silence(deps, standing, subjects, now);
}

/** What was told of each alert, as this turn leaves it. */
interface StoredAlerts {
  of(key: AlertKey): StoredAlert | undefined;
  openOf(kind: AlertKind): StoredAlert[];
}

function createStoredAlerts(alerts: readonly StoredAlert[]): StoredAlerts {
  return {
    of: ({ kind, source, subject }) =>
      alerts.find((one) => one.kind === kind && one.source === source && one.subject === subject),
    openOf: (kind) => alerts.filter((one) => one.kind === kind && one.isOpen),
  };
}

async function failures(deps: AlertDependencies, standing: StoredAlerts, now: Date): Promise<void> {
  const { types, isComplete } = await deps.store.exhausted(FAILURES_LOOKED_AT);
  const found = types.map(({ source, eventType, count }) => ({ source, subject: eventType, count }));
  const gone = standing
    .openOf("failures")
    .filter((open) => !found.some((one) => one.source === open.source && one.subject === open.subject))
    .map(({ source, subject }) => ({ source, subject, count: 0 }));
  for (const { source, subject, count } of [...found, ...gone]) {
    const key = { kind: "failures", source, subject } as const;
    const told = standing.of(key) ?? { isOpen: false, notifiedCount: 0, notifiedAt: now };
    await settle(deps, key, standing.of(key), evaluateFailures(told, { count, isComplete }, now), now, count);
  }
}

async function signatures(
  deps: AlertDependencies,
  standing: StoredAlerts,
  subjects: readonly ArrivalSubject[],
  now: Date,
): Promise<void> {
  for (const { source } of subjects.filter(({ subject }) => subject === AUTHENTIC)) {
    const key = { kind: "signatures", source, subject: "" } as const;
    const alert = standing.of(key);
    const history = await signatureHistory(deps.store, source, subjects, slotOf(now), alert);
    if (history !== undefined) await settle(deps, key, alert, evaluateSignatures(history), now);
  }
}

/** Where signatures fail, every type of the source is silent, and that has been told. */
async function silence(
  deps: AlertDependencies,
  standing: StoredAlerts,
  subjects: readonly ArrivalSubject[],
  now: Date,
): Promise<void> {
  const failing = new Set(standing.openOf("signatures").map(({ source }) => source));
  for (const subject of subjects.filter((one) => one.subject.startsWith(TYPE_PREFIX))) {
    const type = subject.subject.slice(TYPE_PREFIX.length);
    const key = { kind: "silence", source: subject.source, subject: type } as const;
    const alert = standing.of(key);
    if (!deps.isHandled(type) || (failing.has(subject.source) && alert?.isOpen !== true)) continue;
    const history = await silenceHistory(deps.store, subject, slotOf(now), alert);
    if (history === undefined) continue;
    await settle(deps, key, alert, evaluateSilence(history, deps.silenceFloor), now);
  }
}

async function settle(
  { store, log }: AlertDependencies,
  key: AlertKey,
  alert: StoredAlert | undefined,
  verdict: AlertTransition,
  now: Date,
  count = 0,
): Promise<void> {
  if (verdict === "unchanged") return;
  const since = verdict === "begins" ? now : (alert?.since ?? now);
  const change = {
    kind: key.kind,
    source: key.source,
    subject: key.subject,
    from: alert?.number ?? 0,
    isOpen: verdict !== "over",
    since,
    notifiedCount: count,
    // Whoever shrinks has told nothing.
    notifiedAt: verdict === "shrinks" ? (alert?.notifiedAt ?? now) : now,
  };
  const state = STATES[verdict];
  const message = state === undefined ? {} : { message: messageOf(key, state, since, count) };
  if (!(await store.change({ ...change, ...message })) || state === undefined) return;
  const fields = { alert: key.kind, source: key.source, event_type: key.subject || undefined, state };
  if (state === "over") log.info(fields, "an alert is over");
  else log.warn(fields, "an alert was sent");
}

const STATES = { begins: "started", grows: "grown", shrinks: undefined, over: "over" } as const;

export interface AlertDependencies {
  readonly store: Alerts;
  readonly arrivals: ArrivalCounts;
  readonly kinds: ReadonlySet<AlertKind>;
  /** How many callbacks must be missing before a type counts as silent. */
  readonly silenceFloor: number;
  /** Whether an event type is handled here; the silence of another one says nothing. */
  readonly isHandled: (eventType: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

const NAMES = {
  failures: "failure_exhausted",
  signatures: "signatures_failing",
  silence: "silent",
} as const;

/** What is sent of an alert; `count` is of its failures. */
export function messageOf(
  { kind, source, subject }: AlertKey,
  state: "started" | "grown" | "over",
  since: Date,
  count: number,
): { topic: string; payload: JsonObject } {
  const name = NAMES[kind];
  const payload = {
    state,
    source,
    ...(subject === "" ? {} : { event_type: subject }),
    ...(kind === "failures" ? { count } : {}),
    since: since.toISOString(),
    message: state === "over" ? OVER[kind](source, subject) : OPENED[kind](source, subject, count),
    see: `docs/alerts.md#alert${name}`,
  };
  return { topic: `alert.${name}${state === "over" ? ".over" : ""}`, payload };
}

const OPENED: Record<AlertKey["kind"], (source: string, type: string, count: number) => string> = {
  failures: (source, type, count) =>
    `${count === 1 ? "1 event" : `${count} events`} ${type} of ${source} failed in every attempt and will not be retried: ` +
    "see `oncehook failures`, mend the cause, then replay or discard them.",
  signatures: (source) =>
    `Most callbacks of ${source} are answered 401, and far fewer authentic ones come than usual: compare the secret with the ` +
    "platform's, and see `diagnosis` in GET /api/v1/callbacks.",
  silence: (source, type) =>
    `No ${type} of ${source} has come for longer than chance explains: see whether the platform can reach the address, and ` +
    "whether it has disabled it.",
};

const OVER: Record<AlertKey["kind"], (source: string, type: string) => string> = {
  failures: (source, type) => `No event ${type} of ${source} is left that failed in every attempt.`,
  signatures: (source) => `Authentic callbacks of ${source} come again.`,
  silence: (source, type) => `${type} of ${source} comes again.`,
};
