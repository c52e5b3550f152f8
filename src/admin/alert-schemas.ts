import { z } from "zod";
import { MIN_REFUSED } from "../domain/index.ts";
import type { AlertKey, StoredAlert } from "../store/index.ts";

const time = () => z.string().meta({ format: "date-time" });

export const ALERT = z
  .strictObject({
    kind: z.enum(["failures", "accepted", "signatures", "silence"]),
    source: z.string(),
    subject: z.string().describe("The event type; empty where the alert is on the whole source."),
    state: z.enum(["open", "muted", "resolved"]).describe("`muted`: it sends no notification, open or not."),
    is_open: z.boolean().describe("Whether its cause lasts, muted or not."),
    since: time().describe("When it was opened last."),
    muted_until: time().nullable(),
    muted_by: z.string().nullable().describe("The operator who muted it."),
    reason: z.string().nullable().describe("Why it is muted."),
  })
  .describe("An alert that Oncehook sends, by docs/monitoring.md.");

const KINDS = ["failures", "accepted", "signatures", "silence"] as const satisfies readonly AlertKey["kind"][];

export const ALERT_RULE = z
  .strictObject({
    kind: z.enum(KINDS),
    is_on: z.boolean().describe("By `ALERTS`; without it the first three, where a channel for them is configured."),
    limit: z.string().describe("When it starts, in a sentence."),
  })
  .describe("A kind of alert, on or off.");

/** The alerts that are on, and the limits that the configuration sets. */
export interface AlertSettings {
  readonly kinds: readonly AlertKey["kind"][];
  readonly acceptedSeconds: number;
  readonly silenceFloor: number;
}

export type AlertRuleView = z.infer<typeof ALERT_RULE>;

export function presentAlertRules({ kinds, acceptedSeconds, silenceFloor }: AlertSettings): AlertRuleView[] {
  const limits = {
    failures: "An event of a type has failed at every attempt, or was rejected.",
    accepted: `An accepted event of a source waits for more than ${durationText(acceptedSeconds)}.`,
    signatures: `All callbacks of a source are refused: ${MIN_REFUSED} or more, and earlier ones were authentic.`,
    silence:
      "No callback of a type comes for four times its longest gap of a week, and at least an hour. " +
      `It needs ${silenceFloor} callbacks in that week.`,
  };
  return KINDS.map((kind) => ({ kind, is_on: kinds.includes(kind), limit: limits[kind] }));
}

function durationText(seconds: number): string {
  return seconds % 60 === 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export type AlertView = z.infer<typeof ALERT>;

/** @param now a mute that has ended by then is not shown */
export function presentAlert({ kind, source, subject, isOpen, since, mute }: StoredAlert, now: Date): AlertView {
  const shown = mute !== null && mute.until > now ? mute : null;
  return {
    ...{ kind, source, subject },
    state: shown !== null ? "muted" : isOpen ? "open" : "resolved",
    is_open: isOpen,
    since: since.toISOString(),
    muted_until: shown?.until.toISOString() ?? null,
    muted_by: shown?.by ?? null,
    reason: shown?.reason ?? null,
  };
}
