/** Writes the parts of the documentation that tests compare with the code. */
import { readFileSync, writeFileSync } from "node:fs";
import { FAULTS, REMEDIES } from "../src/domain/index.ts";
import { describeAdminApi } from "./describe-admin-api.ts";
import { platformTables } from "./platform-rows.ts";
import { row } from "./row.ts";
import { scalingFigures } from "./scaling-figures.ts";
import { describeVariables } from "./variable-rows.ts";

writeSections("docs/configuration.md", configurationTables());
writeSections("docs/platforms.md", platformTables());
const REFUSED = "\n## Why was my callback refused?\n";
const [responses = "", refused = ""] = readFileSync("docs/errors.md", "utf8").split(REFUSED);
const meanings = cellsByCode(responses);
const causes = cellsByCode(refused, 1);
const faults = Object.entries(FAULTS).map(([code, { status, message }]) =>
  row(`\`${code}\``, status, message, meanings.get(code) ?? ""),
);
const remedies = Object.entries(REMEDIES).map(([code, remedy]) => row(`\`${code}\``, causes.get(code) ?? "", remedy));
writeFileSync("docs/errors.md", [withRows(responses, faults), withRows(refused, remedies)].join(REFUSED));

writeBetween("docs/scaling.md", scalingFigures(readFileSync("docs/performance.md", "utf8")));

writeFileSync("docs/openapi.json", `${JSON.stringify(await describeAdminApi(), null, 2)}\n`);

/** The cell of each row that is written by hand, by its first one. @param column the last one unless given */
function cellsByCode(page: string, column = -1): ReadonlyMap<string, string> {
  const lines = page.split("\n");
  const rows = lines.filter((line) => /^\| `\w+` \|/.test(line)).map((line) => line.slice(2, -2).split(" | "));
  return new Map(rows.map((cells) => [(cells[0] ?? "").slice(1, -1), cells.at(column) ?? ""]));
}

/** Keeps the page outside of its two marks. */
function writeBetween(file: string, text: string): void {
  const page = readFileSync(file, "utf8");
  const [begin, end] = ["<!-- figures: written by npm run tables -->\n", "\n<!-- end of figures -->"];
  const [before = "", rest = ""] = page.split(begin);
  writeFileSync(file, `${before}${begin}\n${text}\n${rest.slice(rest.indexOf(end))}`);
}

/** Keeps what stands above the first of the sections. */
function writeSections(file: string, sections: string): void {
  const page = readFileSync(file, "utf8");
  const [heading = ""] = sections.split("\n", 1);
  writeFileSync(file, `${page.slice(0, page.indexOf(`\n${heading}\n`) + 1)}${sections}`);
}

function configurationTables(): string {
  const meanings = cellsByCode(readFileSync("docs/configuration.md", "utf8"));
  const sections = Map.groupBy(describeVariables(), ({ section }) => section);
  const tables = [...sections].map(([section, entries]) =>
    [
      `## ${section}`,
      "",
      row("variable", "default", "expects", "meaning"),
      row("---", "---", "---", "---"),
      ...entries.map((entry) => row(`\`${entry.name}\``, entry.default, entry.expects, meanings.get(entry.name) ?? "")),
    ].join("\n"),
  );
  return `${tables.join("\n\n")}\n`;
}

/** The page with these rows in the place of the rows that begin with a code. */
function withRows(page: string, rows: readonly string[]): string {
  const isRow = (line: string) => /^\| `[a-z_0-9]+` \|/.test(line);
  const lines = page.split("\n");
  const first = lines.findIndex(isRow);
  const others = lines.filter((line) => !isRow(line));
  return others.toSpliced(first, 0, ...rows).join("\n");
}
