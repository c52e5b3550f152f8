import { z } from "zod";
import type { StoredAlert } from "../store/index.ts";

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
