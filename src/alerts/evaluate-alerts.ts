import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, JsonObject, Log } from "../domain/index.ts";
import type { AlertKey, AlertKind, Alerts, OutcomeCount, StoredAlert } from "../store/index.ts";
import {
  type AlertTransition,
  comparedWith,
  DAY,
  evaluateFailures,
  evaluateSignatures,
  isSilent,
  lastFullQuarter,
  QUARTER_SECONDS,
  quarterOf,
  type SignatureCounts,
  signatureOf,
  silenceLimit,
} from "./policy.ts";

export interface AlertDependencies {
  readonly store: Alerts;
  readonly kinds: ReadonlySet<AlertKind>;
  /** How many callbacks of a type must have come in a week before its silence can start an alert. */
  readonly silenceFloor: number;
  /** Whether a handler for an event type exists; the silence of any other type is no fault. */
  readonly isHandled: (eventType: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** @param observedSince since when this kind has been evaluated without an interruption */
export async function evaluateAlerts(
  deps: AlertDependencies,
  kind: AlertKind,
  now: Date,
  observedSince: Date,
): Promise<void> {
  const alerts = await deps.store.list();
  if (kind === "failures") await failures(deps, alerts, now);
  else if (kind === "signatures") await signatures(deps, alerts, now);
  else await silence(deps, alerts, now, observedSince);
}

/** At most so many exhausted failures are counted. */
const MAX_FAILURES = 10_000;

async function failures(deps: AlertDependencies, alerts: readonly StoredAlert[], now: Date): Promise<void> {
  const { types, isComplete } = await deps.store.exhausted(MAX_FAILURES);
  const found = types.map(({ source, eventType, count }) => ({ source, subject: eventType, count }));
  const gone = alerts
    .filter(({ kind, isOpen }) => kind === "failures" && isOpen)
    .filter((open) => !found.some((one) => one.source === open.source && one.subject === open.subject))
    .map(({ source, subject }) => ({ source, subject, count: 0 }));
  for (const { source, subject, count } of [...found, ...gone]) {
    const key = { kind: "failures", source, subject } as const;
    const alert = alertOf(alerts, key);
    const notified = alert ?? { isOpen: false, notifiedCount: 0, notifiedAt: now };
    await apply(deps, { key, alert, now, count }, evaluateFailures(notified, { count, isComplete }, now));
  }
}

async function signatures(deps: AlertDependencies, alerts: readonly StoredAlert[], now: Date): Promise<void> {
  const { store } = deps;
  const last = lastFullQuarter(now);
  const sources = await signatureCounts(store, last + 1 - DAY, last + 1);
  const isOpen = alerts.some((alert) => alert.kind === "signatures" && alert.isOpen);
  const counts = [...sources.values()].flatMap((quarters) => [...quarters.values()]);
  if (!isOpen && counts.every(({ wrong, unsigned }) => wrong + unsigned === 0)) return;
  const first = Math.ceil(((await store.firstOutcomeSlot()) ?? 0) / QUARTER_SECONDS);
  const shift = comparedWith(last, first);
  const earlier = await signatureCounts(store, last + 1 - DAY - shift, last + 1 - shift);
  for (const [source, quarters] of sources) {
    const key = { kind: "signatures", source, subject: "" } as const;
    const alert = alertOf(alerts, key);
    const known = new Map([...(earlier.get(source) ?? []), ...quarters]);
    const changedIn = alert === undefined ? {} : { changedIn: quarterOf(alert.notifiedAt) };
    const history = { last, shift, quarters: known, isOpen: alert?.isOpen === true, ...changedIn };
    await apply(deps, { key, alert, now }, evaluateSignatures(history));
  }
}

/** Each query holds up the event loop on SQLite, so that a day is read in short ones. */
const QUARTERS_A_QUERY = 12;

/** By source and quarter-hour, from `from` up to but not including `to`. */
async function signatureCounts(
  store: Alerts,
  from: number,
  to: number,
): Promise<Map<string, Map<number, SignatureCounts>>> {
  const sources = new Map<string, Map<number, SignatureCounts>>();
  const outcomes: OutcomeCount[] = [];
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

/** While the signatures of a source fail, all its types are silent: one alert is enough. */
async function silence(
  deps: AlertDependencies,
  alerts: readonly StoredAlert[],
  now: Date,
  observedSince: Date,
): Promise<void> {
  const types = Map.groupBy(await deps.store.listArrivals(), ({ source, eventType }) =>
    JSON.stringify([source, eventType]),
  );
  for (const days of types.values()) {
    const { source, eventType } = days[0] as (typeof days)[number];
    const key = { kind: "silence", source, subject: eventType } as const;
    const alert = alertOf(alerts, key);
    if (alert?.isOpen === true) {
      const hasCome = days.some(({ lastAt }) => lastAt >= alert.since);
      await apply(deps, { key, alert, now }, hasCome ? "resolves" : "unchanged");
      continue;
    }
    if (!deps.isHandled(eventType)) continue;
    if (alertOf(alerts, { kind: "signatures", source, subject: "" })?.isOpen === true) continue;
    const limit = silenceLimit(days, deps.silenceFloor);
    if (limit !== undefined && isSilent(limit, observedSince, now)) {
      await apply(deps, { key, alert, now }, "starts");
    }
  }
}

function alertOf(
  alerts: readonly StoredAlert[],
  { kind, source, subject }: AlertKey,
): StoredAlert | undefined {
  return alerts.find((one) => one.kind === kind && one.source === source && one.subject === subject);
}

interface Evaluated {
  readonly key: AlertKey;
  readonly alert: StoredAlert | undefined;
  readonly now: Date;
  /** Of failures. */
  readonly count?: number;
}

async function apply(
  { store, log }: AlertDependencies,
  { key, alert, now, count = 0 }: Evaluated,
  transition: AlertTransition,
): Promise<void> {
  if (transition === "unchanged") return;
  const since = transition === "starts" ? now : (alert?.since ?? now);
  const state = STATES[transition];
  const change = {
    ...key,
    from: alert?.number ?? 0,
    isOpen: transition !== "resolves",
    since,
    notifiedCount: count,
    // A smaller number of failures sends no notification.
    notifiedAt: state === undefined ? (alert?.notifiedAt ?? now) : now,
    ...(state === undefined ? {} : { message: messageOf(key, state, since, count) }),
  };
  if (!(await store.change(change)) || state === undefined) return;
  const fields = { alert: key.kind, source: key.source, event_type: key.subject || undefined, state };
  if (state === "resolved") log.info(fields, "an alert was resolved");
  else log.warn(fields, "an alert was sent");
}

const STATES = { starts: "started", grows: "grown", shrinks: undefined, resolves: "resolved" } as const;

const NAMES = {
  failures: "failure_exhausted",
  signatures: "signatures_failing",
  silence: "silent",
} as const;

/** The notification of an alert; `count` is of its failures. */
export function messageOf(
  { kind, source, subject }: AlertKey,
  state: "started" | "grown" | "resolved",
  since: Date,
  count: number,
): { topic: string; payload: JsonObject } {
  const name = NAMES[kind];
  const isResolved = state === "resolved";
  const payload = {
    state,
    source,
    ...(subject === "" ? {} : { event_type: subject }),
    ...(kind === "failures" ? { count } : {}),
    since: since.toISOString(),
    message: isResolved ? RESOLVED[kind](source, subject) : OPENED[kind](source, subject, count),
    see: `docs/alerts.md#alert${name}`,
  };
  return { topic: `alert.${name}${isResolved ? ".resolved" : ""}`, payload };
}

const OPENED: Record<AlertKind, (source: string, type: string, count: number) => string> = {
  failures: (source, type, count) =>
    `${count === 1 ? "1 event" : `${count} events`} ${type} of ${source} failed in every attempt and will not be retried: ` +
    "see `oncehook failures`, fix the cause, then replay or discard them.",
  signatures: (source) =>
    `Callbacks of ${source} are refused with 401, and far fewer authentic ones arrive than a week ago: compare the secret ` +
    "with the platform's, and see `diagnosis` in GET /api/v1/callbacks.",
  silence: (source, type) =>
    `No ${type} of ${source} has arrived for four times its longest gap of a week: check that the platform can reach the ` +
    "endpoint URL and has not disabled it.",
};

const RESOLVED: Record<AlertKind, (source: string, type: string) => string> = {
  failures: (source, type) => `No exhausted failure of ${type} of ${source} is left.`,
  signatures: (source) => `Authentic callbacks of ${source} arrive again.`,
  silence: (source, type) => `${type} of ${source} arrives again.`,
};
