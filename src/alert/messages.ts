import type { JsonObject } from "../domain/index.ts";
import type { AlertKey } from "../store/index.ts";

const NAMES = {
  failures: "failure_exhausted",
  signatures: "signatures_failing",
  silence: "silent",
} as const;

/** What is sent of an alert; `count` is of its failures. */
export function messageOf(
  { kind, source, subject }: AlertKey,
  state: "begun" | "grown" | "over",
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
    says: state === "over" ? OVER[kind](source, subject) : BEGUN[kind](source, subject, count),
    see: `docs/alerts.md#alert${name}`,
  };
  return { topic: `alert.${name}${state === "over" ? ".over" : ""}`, payload };
}

const BEGUN: Record<AlertKey["kind"], (source: string, type: string, count: number) => string> = {
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
