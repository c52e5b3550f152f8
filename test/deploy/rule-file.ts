import { readFileSync } from "node:fs";

export const RULES_FILE = "deploy/prometheus/oncehook.rules.yml";

export interface Rule {
  readonly name: string;
  /** The whole entry, as it stands in the file. */
  readonly text: string;
  readonly expr: string;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
}

/** The alerts of the rule file; its layout is ours, so that no parser is needed. */
export function alertRules(): Rule[] {
  return entries("alert");
}

/** The recorded ones, which other rules use as metrics. */
export function recordedRules(): Rule[] {
  return entries("record");
}

function entries(kind: "alert" | "record"): Rule[] {
  return readFileSync(RULES_FILE, "utf8")
    .split(/^(?= {6}- (?:alert|record): )/m)
    .filter((text) => text.startsWith(`      - ${kind}: `))
    .map((text) => ({ name: /: (\S+)/.exec(text)?.[1] ?? "", text, expr: field(text, "expr") }));
}

/** A field of an entry on one line, or folded over several. */
export function field(text: string, name: string): string {
  const [, indent = "", first = ""] = new RegExp(`^( +)(?:- )?${name}: (.*)$`, "m").exec(text) ?? [];
  if (!first.startsWith(">")) return first.replace(/^"(.*)"$/, "$1");
  const after = text
    .slice(text.indexOf(`${name}: ${first}`))
    .split("\n")
    .slice(1);
  const end = after.findIndex((line) => !line.startsWith(`${indent}  `));
  return after
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.trim())
    .join(" ");
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync("deploy/grafana/oncehook.json", "utf8")) as Dashboard;
}

/** The queries of the dashboard's panels, with Grafana's variables filled in. */
export function dashboardQueries(): string[] {
  return dashboard().panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll("$job", "oncehook").replaceAll("$__rate_interval", "1m")),
  );
}
