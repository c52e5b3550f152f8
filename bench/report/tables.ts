import { judgeGoals } from "./goals.ts";
import { isShortTrial, type Results } from "./results.ts";
import { type Figure, figureOf, type Summary, summarise } from "./summary.ts";

interface Column {
  readonly title: string;
  readonly figure: Figure;
  readonly digits: number;
}

const COLUMNS: readonly Column[] = [
  { title: "CPU µs", figure: "cpu", digits: 0 },
  { title: "DB CPU µs", figure: "databaseCpu", digits: 0 },
  { title: "allocated KiB", figure: "allocated", digits: 1 },
  { title: "p50 ms", figure: "p50", digits: 1 },
  { title: "p99 ms", figure: "p99", digits: 1 },
  { title: "p99.9 ms", figure: "p999", digits: 1 },
  { title: "503 /s", figure: "refusedRate", digits: 0 },
  { title: "RSS MB", figure: "rss", digits: 0 },
  { title: "peak MB", figure: "peak", digits: 0 },
  { title: "RSS growth", figure: "rssGrowth", digits: 2 },
  { title: "start ms", figure: "startMs", digits: 0 },
  { title: "start CPU ms", figure: "startCpuMs", digits: 0 },
];

/** A whole run in Markdown, which a terminal shows well enough too. */
export function report(results: Results): string {
  const summaries = summarise(results.measurements);
  const parts = [facts(results)];
  // Two runs that were joined may both have measured a case.
  for (const [name, title] of new Map(results.cases.map(({ name, title }) => [name, title]))) {
    const ofCase = summaries.filter((summary) => summary.case === name);
    if (ofCase.length > 0) parts.push(`### ${title} (\`${name}\`)`, caseTable(ofCase, summaries));
  }
  const goals = goalTable(summaries);
  if (goals !== undefined) parts.push("### Against the goals", goals);
  const missing = Object.entries(results.missing).map(([name, why]) => `- \`${name}\`: ${why}`);
  if (missing.length > 0) parts.push("### Missing", missing.join("\n"));
  return parts.join("\n\n");
}

function facts(results: Results): string {
  const { machine, options, versions, date } = results;
  const trial = isShortTrial(options)
    ? ["**A short trial: it shows that the harness runs, not how fast anything is.**", ""]
    : [];
  return [
    ...trial,
    `- ${date}, rounds: ${options.rounds}, alternating, of ${options.seconds} s each after ${options.warmUpSeconds ?? "some"} s of warm-up, ${options.connections} connections`,
    ...Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`),
    ...Object.entries(versions).map(([name, version]) => `- \`${name}\`: ${version}`),
  ].join("\n");
}

function caseTable(ofCase: readonly Summary[], all: readonly Summary[]): string {
  const columns = COLUMNS.filter(({ figure }) => ofCase.some(({ medians }) => medians[figure] !== undefined));
  const name = ofCase[0]?.case ?? "";
  const reference = figureOf(all, name, "bare", "rate");
  const hasRates = ofCase.some(({ rates }) => rates !== undefined);
  const rateTitles = hasRates ? ["callbacks/s", "slowest – fastest", "× bare"] : [];
  const header = ["", ...rateTitles, ...columns.map(({ title }) => title), "rounds"];
  const rows = ofCase.map(({ entrant, medians, rates, rounds, valid, faults }) => [
    entrant,
    ...(hasRates
      ? [
          number(medians.rate, 0),
          rates === undefined ? "" : rates.map((rate) => number(rate, 0)).join(" – "),
          medians.rate === undefined || reference === undefined ? "" : number(medians.rate / reference, 2),
        ]
      : []),
    ...columns.map(({ figure, digits }) => number(medians[figure], digits)),
    valid === rounds ? String(rounds) : `${valid} of ${rounds} count: ${faults.join("; ")}`,
  ]);
  return markdownTable(header, rows);
}

/** Undefined where nothing that a goal is about was measured. */
function goalTable(summaries: readonly Summary[]): string | undefined {
  const verdicts = judgeGoals(summaries);
  const rows = verdicts.flatMap(({ title, goal, value, isReached, unit }) =>
    value === undefined ? [] : [[title, goal, `${number(value, 2)}${unit}`, isReached ? "reached" : "**not reached**"]],
  );
  if (rows.length === 0) return undefined;
  const rest = verdicts.length - rows.length;
  const table = markdownTable(["", "goal", "measured", ""], rows);
  return rest === 0 ? table : `${table}\n\n${rest} more were not measured in this run.`;
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const [first = [], ...others] = cells;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(first), rule, ...others.map(line)].join("\n");
}

function number(value: number | undefined, digits: number): string {
  if (value === undefined) return "";
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
