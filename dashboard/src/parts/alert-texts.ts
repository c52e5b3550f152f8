import type { AlertView } from "../views.ts";

/** The cause of each alert, behind the name of its source. */
export const ALERT_TEXTS: Readonly<Record<AlertView["kind"], string>> = {
  failures: "events fail at every attempt",
  accepted: "accepted events wait too long",
  signatures: "signatures are refused",
  silence: "no callback comes",
};
