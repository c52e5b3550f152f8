import type { JsonObject } from "../domain/index.ts";
import type { AlertKey, AlertKind } from "../store/index.ts";

/** `still_open`: its mute has ended. */
export type AlertState = "started" | "grown" | "still_open" | "resolved";

/** The notification of an alert; `count` is of its failures. @param message of its start, where the usual one says less */
export function messageOf(
  { kind, source, subject, message }: AlertKey & { readonly message?: string | undefined },
  state: AlertState,
  since: Date,
  count: number,
): { topic: string; payload: JsonObject } {
  const { name, title, severity, started, remedy, resolved } = TEXTS[kind];
  const isResolved = state === "resolved";
  const payload = {
    state,
    title,
    severity,
    source,
    ...(subject === "" ? {} : { event_type: subject }),
    ...(kind === "failures" ? { count } : {}),
    since: since.toISOString(),
    message: isResolved ? resolved(source, subject) : (message ?? started(source, subject, count)),
    ...(isResolved ? {} : { remedy }),
    see: `docs/monitoring.md#alert${name}`,
  };
  return { topic: `alert.${name}${isResolved ? ".resolved" : ""}`, payload };
}

interface AlertTexts {
  readonly name: string;
  readonly title: string;
  /** How urgent it is, in PagerDuty's words. */
  readonly severity: "critical" | "error" | "warning";
  readonly started: (source: string, type: string, count: number) => string;
  /** It holds nothing that a platform has sent, so that a channel may read its markup. */
  readonly remedy: string;
  readonly resolved: (source: string, type: string) => string;
}

/** Stands for the type of callbacks that their contract could not read. */
const UNREAD = "(not read)";

const TEXTS: Readonly<Record<AlertKind, AlertTexts>> = {
  failures: {
    name: "failure_exhausted",
    title: "Events failed in every attempt",
    severity: "error",
    started: (source, type, count) =>
      `${count === 1 ? "1 event" : `${count} events`} ${type || UNREAD} of ${source} failed in every attempt, or were ` +
      "rejected, and will not be retried.",
    remedy: "See `oncehook failures`, fix the cause, then replay or discard them.",
    resolved: (source, type) => `No exhausted or rejected failure of ${type || UNREAD} of ${source} is left.`,
  },
  accepted: {
    name: "accepted_too_old",
    title: "Accepted events wait too long",
    severity: "error",
    started: (source) =>
      `An accepted event of ${source} has not been handled in time, though its platform has a response.`,
    remedy:
      "See `oncehook failures --state accepted`, and the log for handlers that are slow or attempts that are put off.",
    resolved: (source) => `Accepted events of ${source} are handled in time again.`,
  },
  signatures: {
    name: "signatures_failing",
    title: "Callbacks are refused",
    severity: "critical",
    started: (source) =>
      `Callbacks of ${source} are refused with 401, and far fewer authentic ones arrive than a week ago.`,
    remedy:
      "Compare the secret with the platform's: `oncehook doctor` and the list of callbacks say why they are refused.",
    resolved: (source) => `Authentic callbacks of ${source} arrive again.`,
  },
  silence: {
    name: "silent",
    title: "Callbacks stopped",
    severity: "warning",
    started: (source, type) => `No ${type} of ${source} has arrived for four times its longest gap of a week.`,
    remedy: "Check that the platform can reach the endpoint URL and has not disabled it.",
    resolved: (source, type) => `${type} of ${source} arrives again.`,
  },
};
