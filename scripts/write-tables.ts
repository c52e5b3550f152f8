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
const meanings = meaningsIn("docs/errors.md");
const causes = meaningsIn("docs/refused.md", 1);
writeTable(
  "docs/errors.md",
  /^\| `[a-z_0-9]+` \|/,
  Object.entries(FAULTS).map(([code, { status, message }]) =>
    row(`\`${code}\``, status, message, meanings.get(code) ?? ""),
  ),
);
writeTable(
  "docs/refused.md",
  /^\| `[a-z_0-9]+` \|/,
  Object.entries(REMEDIES).map(([code, remedy]) => row(`\`${code}\``, causes.get(code) ?? "", remedy)),
);

writeBetween("docs/scaling.md", scalingFigures(readFileSync("docs/performance.md", "utf8")));

writeFileSync("docs/openapi.json", `${JSON.stringify(await describeAdminApi(), null, 2)}\n`);

/** The cell of each row that is written by hand, by its first one. @param column the last one unless given */
function meaningsIn(file: string, column = -1): ReadonlyMap<string, string> {
  const lines = readFileSync(file, "utf8").split("\n");
  const rows = lines
    .filter((line) => /^\| `\w+` \|/.test(line))
    .map((line) => line.slice(2, -2).split(" | "));
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
  const meanings = meaningsIn("docs/configuration.md");
  const sections = Map.groupBy(describeVariables(), ({ section }) => section);
  const tables = [...sections].map(([section, entries]) =>
    [
      `## ${section}`,
      "",
      row("variable", "default", "expects", "meaning"),
      row("---", "---", "---", "---"),
      ...entries.map((entry) =>
        row(`\`${entry.name}\``, entry.default, entry.expects, meanings.get(entry.name) ?? ""),
      ),
    ].join("\n"),
  );
  return `${tables.join("\n\n")}\n`;
}

function writeTable(file: string, isRow: RegExp, rows: readonly string[]): void {
  const lines = readFileSync(file, "utf8").split("\n");
  const first = lines.findIndex((line) => isRow.test(line));
  const others = lines.filter((line) => !isRow.test(line));
  others.splice(first, 0, ...rows);
  writeFileSync(file, others.join("\n"));
}
