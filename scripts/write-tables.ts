/** Writes what tests hold the documentation to: the variables in README.md, docs/access.md and docs/oauth.md, docs/errors.md, docs/refused.md, and docs/openapi.json. */
import { readFileSync, writeFileSync } from "node:fs";
import { describeAdminApi } from "../src/admin/index.ts";
import { describeVariables } from "../src/config/index.ts";
import { DIAGNOSES, FAULTS } from "../src/domain/index.ts";

const row = (...cells: readonly (string | number)[]) =>
  `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;

for (const page of ["README.md", "docs/access.md", "docs/oauth.md"]) {
  const entries = describeVariables().filter((entry) => entry.page === page);
  writeTable(
    page,
    /^\| `[A-Z_]+` \|/,
    entries.map((entry) => row(`\`${entry.name}\``, entry.default, entry.expects, entry.meaning)),
  );
}
writeTable(
  "docs/errors.md",
  /^\| `[a-z_0-9]+` \|/,
  Object.entries(FAULTS).map(([code, fault]) =>
    row(`\`${code}\``, fault.status, fault.message, fault.meaning),
  ),
);
writeTable(
  "docs/refused.md",
  /^\| `[a-z_0-9]+` \|/,
  Object.entries(DIAGNOSES).map(([code, diagnosis]) =>
    row(`\`${code}\``, diagnosis.meaning, diagnosis.remedy),
  ),
);

writeFileSync("docs/openapi.json", `${JSON.stringify(await describeAdminApi(), null, 2)}\n`);

function writeTable(file: string, isRow: RegExp, rows: readonly string[]): void {
  const lines = readFileSync(file, "utf8").split("\n");
  const first = lines.findIndex((line) => isRow.test(line));
  const others = lines.filter((line) => !isRow.test(line));
  others.splice(first, 0, ...rows);
  writeFileSync(file, others.join("\n"));
}
