import type { AlertView } from "../views.ts";
import type { Tone } from "./outcome.ts";

/** The cause of each alert, behind the name of its source. */
export const ALERT_TEXTS: Readonly<Record<AlertView["kind"], string>> = {
  failures: "events fail at every attempt",
  accepted: "accepted events wait too long",
  signatures: "callbacks are refused",
  silence: "no callback comes",
};

/** Refused and missing callbacks are the sender's trouble; failed and waiting events are ours. */
export const ALERT_TONES: Readonly<Record<AlertView["kind"], Tone>> = {
  failures: "failed",
  accepted: "failed",
  signatures: "refused",
  silence: "refused",
};

/** The name of each kind of alert. */
export const ALERT_NAMES: Readonly<Record<AlertView["kind"], string>> = {
  failures: "Failed events",
  accepted: "Accepted events",
  signatures: "Refused callbacks",
  silence: "Silence",
};

interface Named {
  readonly kind: string | undefined;
  readonly source: string | undefined;
  readonly subject: string | undefined;
}

/** Such as `Failed events, billing invoice.paid`. A kind of another version stands as it is. */
export function alertName({ kind = "", source, subject }: Named): string {
  const names: Readonly<Record<string, string>> = ALERT_NAMES;
  return [names[kind] ?? kind, [source, subject].filter(Boolean).join(" ")].filter(Boolean).join(", ");
}
