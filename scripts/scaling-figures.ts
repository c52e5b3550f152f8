import { row } from "./row.ts";

type Rows = ReadonlyMap<string, ReadonlyMap<string, string>>;

const TARGET = 5_000;
const BUSY = 0.67;

/**
 * The figures of docs/scaling.md, from the tables of docs/performance.md and calculated from them.
 * @throws Error for a page that lacks a table, a row or a column
 */
export function scalingFigures(performance: string): string {
  const figure = (name: string, entrant: string, column: string): number => {
    const text = tableOf(performance, name).get(entrant)?.get(column);
    if (text === undefined) throw new Error(`docs/performance.md has no ${column} of ${entrant} in ${name}`);
    return Number(text.replaceAll(",", ""));
  };
  const rate = (name: string, entrant: string): string => count(figure(name, entrant, "callbacks/s"));
  const cpu = figure("fresh", "oncehook-postgres", "CPU µs");
  const parts: readonly (readonly [string, number])[] = [
    ["a process on SQLite", figure("fresh", "oncehook-sqlite", "CPU µs")],
    ["a process on PostgreSQL", cpu],
    ["PostgreSQL", figure("fresh", "oncehook-postgres", "DB CPU µs")],
    ["PostgreSQL, ten million stored", figure("growth", "oncehook-postgres, 10,000,000 stored", "DB CPU µs")],
  ];
  const stored = parts[3]?.[1] ?? 0;
  return [
    `Measured on ${measuredOn(performance)}:`,
    "",
    row("callbacks a second", "SQLite", "PostgreSQL"),
    row("---", "---:", "---:"),
    ...["fresh", "duplicates", "bad-signatures"].map((name) =>
      row(`\`${name}\``, rate(name, "oncehook-sqlite"), rate(name, "oncehook-postgres")),
    ),
    row(
      "ten million events stored",
      rate("growth", "oncehook-sqlite, 10,000,000 stored"),
      rate("growth", "oncehook-postgres, 10,000,000 stored"),
    ),
    ...[2, 4].map((processes) =>
      row(`${processes} processes`, "", rate("processes", `oncehook-postgres, ${processes} processes`)),
    ),
    "",
    row("part", "CPU for a fresh event", "so one busy core does"),
    row("---", "---:", "---:"),
    ...parts.map(([part, micros]) => row(part, `${micros} µs`, `${count(1_000_000 / micros)} a second`)),
    "",
    `Calculated: ${count(TARGET)} events a second at peak on PostgreSQL, cores at most two thirds busy, ten million stored.`,
    `The processes need ${sum(cpu)} cores, and PostgreSQL ${sum(stored)},`,
    "plus the kernel's work for its disk.",
  ].join("\n");
}

function sum(micros: number): string {
  return `${count(TARGET)} × ${micros} µs ÷ ${BUSY} = ${((TARGET * micros) / 1_000_000 / BUSY).toFixed(2)}`;
}

function measuredOn(performance: string): string {
  const fact = (name: string): string => {
    const text = new RegExp(`^- ${name}: (.*)$`, "m").exec(performance)?.[1];
    if (text === undefined) throw new Error(`docs/performance.md does not name its ${name}`);
    return text;
  };
  return `${fact("processor")}, with the load and PostgreSQL on the same cores (commit ${fact("commit")})`;
}

/** The rows of a case's first table by what was measured, each with its cells by the titles of the columns. */
function tableOf(performance: string, name: string): Rows {
  const start = performance.indexOf(`(\`${name}\`)\n`);
  if (start === -1) throw new Error(`docs/performance.md has no table of ${name}`);
  const [header = "", , ...lines] = performance.slice(start).split("\n\n", 2)[1]?.split("\n") ?? [];
  const titles = cellsOf(header);
  return new Map(
    lines.map((line) => {
      const [entrant = "", ...values] = cellsOf(line);
      return [entrant, new Map(values.map((value, index) => [titles[index + 1] ?? "", value]))];
    }),
  );
}

const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

const count = (value: number): string => Math.round(value).toLocaleString("en");
