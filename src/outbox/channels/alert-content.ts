import { hash } from "node:crypto";
import type { JsonObject } from "../../domain/index.ts";
import type { StoredNotification } from "../../store/index.ts";

/** The installation that sends an alert: a channel of a service often gets those of several. */
export interface AlertOrigin {
  /** The host that platforms send to. */
  readonly host: string;
  readonly environment: string;
  /** The address of the page; undefined where none is configured. */
  readonly pageUrl: string | undefined;
}

/** An alert in parts that each service arranges in its format. Every text but the remedy may hold what a platform has sent. */
export interface AlertContent {
  readonly isResolved: boolean;
  readonly severity: "critical" | "error" | "warning";
  /** Names the alert, its source and its event type in a line. */
  readonly title: string;
  readonly message: string;
  /** Oncehook's own text, whose code is between backticks. */
  readonly remedy: string | undefined;
  /** Names and values: source, event type, count, since when, and the installation. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly since: string;
  readonly source: string;
  readonly topic: string;
  /** One alert has one key from its start to its end, at each installation another. 41 characters. */
  readonly key: string;
}

/** An alert in the format of a service. @param pageUrl the address of the page, undefined where none is configured */
export type AlertMessage = (content: AlertContent, pageUrl: string | undefined) => JsonObject;

const PREFIXES: Readonly<Record<string, string>> = { resolved: "Resolved: ", still_open: "Still open: " };
const RESOLVED = /\.resolved$/;

export function alertContent({ topic, payload }: StoredNotification, { host, environment }: AlertOrigin): AlertContent {
  const fields: Readonly<Record<string, unknown>> = Object(payload);
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
  const [source, eventType, since] = [text("source"), text("event_type"), text("since")];
  const alert = topic.replace(RESOLVED, "");
  const isResolved = RESOLVED.test(topic);
  const subject = [eventType, source].filter((part) => part !== "").join(" of ");
  const facts = [
    ["Source", source],
    ["Event type", eventType],
    ["Count", fields.count === undefined ? "" : String(fields.count)],
    ["Since", since.replace("T", " ").replace(/\.\d+Z$/, " UTC")],
    ["Receiver", `${host} (${environment})`],
  ] as const;
  return {
    isResolved,
    severity: severityOf(text("severity")),
    title: `${PREFIXES[text("state")] ?? ""}${text("title") || alert}${subject === "" ? "" : `: ${subject}`}`,
    message: text("message"),
    remedy: text("remedy") || undefined,
    facts: facts.filter(([, value]) => value !== ""),
    ...{ since, source, topic: alert },
    key: `oncehook-${hash("sha256", JSON.stringify([host, environment, alert, source, eventType]), "hex").slice(0, 32)}`,
  };
}

function severityOf(text: string): AlertContent["severity"] {
  return text === "critical" || text === "warning" ? text : "error";
}

/** Cuts a text to so many UTF-16 units, which the services count. A text that was cut ends with an ellipsis. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  // Half of a pair would be replaced on the way.
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
