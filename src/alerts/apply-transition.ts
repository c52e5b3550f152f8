import type { Log } from "../domain/index.ts";
import type { AlertKey, AlertKind, Alerts, StoredAlert } from "../store/index.ts";
import { type AlertState, messageOf } from "./messages.ts";
import type { AlertTransition } from "./policy.ts";

interface Applying {
  readonly store: Alerts;
  readonly log: Log;
  readonly now: Date;
}

interface AlertCause {
  readonly source: string;
  readonly subject?: string;
  readonly count?: number;
  readonly message?: string;
}

export function isMuted({ mute }: Pick<StoredAlert, "mute">, now: Date): boolean {
  return mute !== null && mute.until > now;
}

/** Changes an alert and notifies, in one transaction. A muted one starts and is resolved without a notification. */
export async function applyTransition(
  { store, log, now, kind, alertOf }: Applying & { readonly kind: AlertKind; readonly alertOf: AlertOf },
  { source, subject = "", count = 0, message }: AlertCause,
  transition: AlertTransition,
): Promise<void> {
  const alert = alertOf(source, subject);
  const muted = alert !== undefined && isMuted(alert, now);
  // A number that changes is reported when the mute ends.
  if (transition === "unchanged" || (muted && (transition === "grows" || transition === "shrinks"))) return;
  const since = transition === "starts" ? now : (alert?.since ?? now);
  const state = STATES[transition];
  const row = {
    ...{ kind, source, subject, since, notifiedCount: count },
    from: alert?.number ?? 0,
    isOpen: transition !== "resolves",
    // A smaller number of failures sends no notification.
    notifiedAt: state === undefined ? (alert?.notifiedAt ?? now) : now,
  };
  if (state === undefined || muted) return void (await store.change(row));
  const sent = { ...row, message: messageOf({ kind, source, subject, message }, state, since, count) };
  if (await store.change(sent)) logSent(log, sent, state);
}

type AlertOf = (source: string, subject?: string) => StoredAlert | undefined;

const STATES = { starts: "started", grows: "grown", shrinks: undefined, resolves: "resolved" } as const;

/** Removes a mute whose time is over. An alert that is open, or whose end no notification has said, is reported. */
export async function applyEndOfMute(
  { store, log, now }: Applying,
  { number, notifiedOpen, mute, ...alert }: StoredAlert,
  count: number,
): Promise<void> {
  const state = notifiedOpen ? (alert.isOpen ? "still_open" : "resolved") : alert.isOpen ? "started" : undefined;
  // The evaluation has reported it since the mute ended.
  const isReported = mute !== null && alert.isOpen === notifiedOpen && alert.notifiedAt >= mute.until;
  const change = { ...alert, from: number, endsMute: true } as const;
  if (state === undefined || isReported) return void (await store.change(change));
  const message = messageOf(alert, state, alert.since, count);
  const sent = { ...change, notifiedCount: count, notifiedAt: now, message };
  if (await store.change(sent)) logSent(log, sent, state);
}

function logSent(log: Log, { kind, source, subject }: AlertKey, state: AlertState): void {
  const fields = { alert: kind, source, event_type: subject || undefined, state };
  if (state === "resolved") log.info(fields, "an alert was resolved");
  else log.warn(fields, "an alert was sent");
}
