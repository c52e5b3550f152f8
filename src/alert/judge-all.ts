import type { AlertKey, AlertKind, ArrivalSubject, StoredAlert } from "../store/index.ts";
import type { AlertDeps } from "./alert-deps.ts";
import { AUTHENTIC, TYPE } from "./arrivals.ts";
import { signatureHistory, silenceHistory } from "./histories.ts";
import { messageOf } from "./messages.ts";
import { judgeFailures, judgeSignatures, judgeSilence, slotOf, type Verdict } from "./policy.ts";

/** More exhausted failures than these are told of, and not counted. */
const FAILURES_LOOKED_AT = 10_000;

/** One turn: every kind of alert that is switched on. */
export async function judgeAll(deps: AlertDeps, now: Date): Promise<void> {
  const standing = createStanding(await deps.store.list());
  if (deps.kinds.has("failures")) await failures(deps, standing, now);
  const subjects = await deps.store.subjects();
  if (deps.kinds.has("signatures")) await signatures(deps, standing, subjects, now);
  if (deps.kinds.has("silence")) await silence(deps, standing, subjects, now);
}

/** What was told of each alert, as this turn leaves it. */
interface Standing {
  of(key: AlertKey): StoredAlert | undefined;
  openOf(kind: AlertKind): StoredAlert[];
}

function createStanding(alerts: readonly StoredAlert[]): Standing {
  return {
    of: ({ kind, source, subject }) =>
      alerts.find((one) => one.kind === kind && one.source === source && one.subject === subject),
    openOf: (kind) => alerts.filter((one) => one.kind === kind && one.isOpen),
  };
}

async function failures(deps: AlertDeps, standing: Standing, now: Date): Promise<void> {
  const { types, isComplete } = await deps.store.exhausted(FAILURES_LOOKED_AT);
  const found = types.map(({ source, eventType, count }) => ({ source, subject: eventType, count }));
  const gone = standing
    .openOf("failures")
    .filter((open) => !found.some((one) => one.source === open.source && one.subject === open.subject))
    .map(({ source, subject }) => ({ source, subject, count: 0 }));
  for (const { source, subject, count } of [...found, ...gone]) {
    const key = { kind: "failures", source, subject } as const;
    const told = standing.of(key) ?? { isOpen: false, told: 0, toldAt: now };
    await settle(deps, key, standing.of(key), judgeFailures(told, { count, isComplete }, now), now, count);
  }
}

async function signatures(
  deps: AlertDeps,
  standing: Standing,
  subjects: readonly ArrivalSubject[],
  now: Date,
): Promise<void> {
  for (const { source } of subjects.filter(({ subject }) => subject === AUTHENTIC)) {
    const key = { kind: "signatures", source, subject: "" } as const;
    const alert = standing.of(key);
    const history = await signatureHistory(deps.store, source, subjects, slotOf(now), alert);
    if (history !== undefined) await settle(deps, key, alert, judgeSignatures(history), now);
  }
}

/** Where signatures fail, every type of the source is silent, and that has been told. */
async function silence(
  deps: AlertDeps,
  standing: Standing,
  subjects: readonly ArrivalSubject[],
  now: Date,
): Promise<void> {
  const failing = new Set(standing.openOf("signatures").map(({ source }) => source));
  for (const subject of subjects.filter((one) => one.subject.startsWith(TYPE))) {
    const type = subject.subject.slice(TYPE.length);
    const key = { kind: "silence", source: subject.source, subject: type } as const;
    const alert = standing.of(key);
    if (!deps.isHandled(type) || (failing.has(subject.source) && alert?.isOpen !== true)) continue;
    const history = await silenceHistory(deps.store, subject, slotOf(now), alert);
    if (history === undefined) continue;
    await settle(deps, key, alert, judgeSilence(history, deps.silenceFloor), now);
  }
}

async function settle(
  { store, log }: AlertDeps,
  key: AlertKey,
  alert: StoredAlert | undefined,
  verdict: Verdict,
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
    told: count,
    // Whoever shrinks has told nothing.
    toldAt: verdict === "shrinks" ? (alert?.toldAt ?? now) : now,
  };
  const state = STATES[verdict];
  const message = state === undefined ? {} : { message: messageOf(key, state, since, count) };
  if (!(await store.change({ ...change, ...message })) || state === undefined) return;
  const fields = { alert: key.kind, source: key.source, event_type: key.subject || undefined, state };
  if (state === "over") log.info(fields, "an alert is over");
  else log.warn(fields, "an alert was sent");
}

const STATES = { begins: "begun", grows: "grown", shrinks: undefined, over: "over" } as const;
