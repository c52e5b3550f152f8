import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { payment, withReceiver } from "../support/receiver.ts";
import { alertRules, dashboard, dashboardQueries, field, recordedRules } from "./rule-file.ts";

/** What Prometheus itself keeps of each target. */
const OF_PROMETHEUS = ["up"];
const WORDS = new Set(
  "sum max by without rate increase and or unless absent changes offset histogram_quantile avg_over_time min_over_time max_over_time quantile_over_time predict_linear".split(
    " ",
  ),
);

/** The names of metrics in a query: words that are neither of the language, nor labels, nor their values. */
function namesIn(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '""')
    .replace(/\{[^}]*\}/g, "{}")
    .replace(/\[[^\]]*\]/g, "[]")
    .replace(/\b(?:by|without) \([^)]*\)/g, "");
  return [...bare.matchAll(/(?<![\w:.])[a-zA-Z_][\w:]*/g)].map(([name]) => name).filter((name) => !WORDS.has(name));
}

/** The names under which a real receiver tells its metrics, with those of their samples. */
async function toldNames(): Promise<{ metrics: Set<string>; samples: Set<string> }> {
  return withReceiver("sqlite", async (receiver) => {
    await receiver.send(payment());
    await receiver.send(payment(), { secret: "another-secret-of-32-bytes-at-least!" });
    const { text } = (await receiver.admin("/metrics")).body as { text: string };
    const metrics = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const samples = metrics.flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    return { metrics: new Set(metrics.map(([, name = ""]) => name)), samples: new Set(samples) };
  });
}

describe("the metrics of a real receiver", () => {
  it("the metrics include all that the rules and the dashboard query", async () => {
    const { samples } = await toldNames();
    const known = new Set([...samples, ...OF_PROMETHEUS, ...recordedRules().map(({ name }) => name)]);
    const asked = [...alertRules().map(({ expr }) => expr), ...recordedRules().map(({ expr }) => expr)];
    const names = [...asked, ...dashboardQueries()].flatMap(namesIn);
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  it("the metrics are those of docs/monitoring.md, each of them and no other", async () => {
    const { metrics } = await toldNames();
    const [, section = ""] = /^## Metrics$([\s\S]*?)^## /m.exec(readFileSync("docs/monitoring.md", "utf8")) ?? [];
    const rows = section.split("\n").filter((line) => line.startsWith("| `"));
    const described = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
    );
    expect(described.toSorted()).toEqual([...metrics].toSorted());
  });
});

describe("an alert rule", () => {
  const docs = readFileSync("docs/monitoring.md", "utf8");
  const anchors = [...docs.matchAll(/^#### (\w+)$/gm)].map(([, title = ""]) => title.toLowerCase());

  it.each(alertRules().map((rule) => [rule.name, rule] as const))(
    "a rule has a severity, a summary, a remedy, and its place in the documentation: %s",
    (name, { text }) => {
      expect(["critical", "warning", "info"]).toContain(field(text, "severity"));
      expect(field(text, "summary").length).toBeGreaterThan(20);
      expect(field(text, "description").length).toBeGreaterThan(60);
      const [file = "", anchor = ""] = field(text, "runbook_url").split("#");
      expect(existsSync(file)).toBe(true);
      expect([file, anchor]).toEqual(["docs/monitoring.md", name.toLowerCase()]);
      expect(anchors).toContain(anchor);
      const said = docs.split(`#### ${name}\n\n`)[1] ?? "";
      expect(said).toMatch(new RegExp(`^\`${field(text, "severity")}\``));
    },
  );

  it("an alert rule exists for each one that the documentation describes", () => {
    const described = anchors.filter((anchor) => anchor.startsWith("oncehook"));
    expect(described.toSorted()).toEqual(
      alertRules()
        .map(({ name }) => name.toLowerCase())
        .toSorted(),
    );
    expect(described.length).toBeGreaterThan(10);
  });
});

describe("the dashboard", () => {
  it("the panels have titles, descriptions where they show data, and do not overlap", () => {
    const { panels } = dashboard();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const shown = panels.filter(({ type }) => type !== "row");
    expect(shown.filter(({ title, description }) => !title || !description)).toEqual([]);
    const overlapping = panels.flatMap((one) =>
      panels
        .filter((other) => other.id > one.id && overlap(one.gridPos, other.gridPos))
        .map((other) => `${one.title} and ${other.title}`),
    );
    expect(overlapping).toEqual([]);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});

type Place = ReturnType<typeof dashboard>["panels"][number]["gridPos"];

function overlap(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
