/**
 * Holds the sizes of the house rules: no source file over 300 lines, no process exit outside the command line.
 * It also asserts that the layer check sees the modules at all: a parser that does not fit the installed
 * TypeScript reads none of them, and reports no violation.
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";

const MAX_LINES = 300;
const problems: string[] = [];
const files = globSync("src/**/*.ts");
const pageFiles = globSync("dashboard/src/**/*.{ts,tsx,css}");
const benchFiles = globSync("bench/**/*.{ts,mjs,lua,go}", { exclude: ["**/node_modules/**"] });

for (const file of [...files, ...pageFiles, ...benchFiles]) {
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n").length - 1;
  if (lines > MAX_LINES) problems.push(`${file}: ${lines} lines, at most ${MAX_LINES}; split it along its meaning`);
  if (/\bprocess\.exit(Code)?\b/.test(text) && file.startsWith("src/") && !file.startsWith("src/cli/")) {
    problems.push(`${file}: only src/cli may end the process`);
  }
}

const args = ["--config", ".dependency-cruiser.cjs", "--output-type", "json", "src"];
const report = execFileSync("node_modules/.bin/depcruise", args, {
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const { modules } = JSON.parse(report) as { modules: { source: string; dependencies: unknown[] }[] };
const seen = modules.filter(({ source, dependencies }) => source.startsWith("src/") && dependencies.length > 0);
if (seen.length < files.length / 2) {
  problems.push(
    `the layer check read ${seen.length} of ${files.length} modules; dependency-cruiser and TypeScript do not fit`,
  );
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`structure: ${files.length} files, the layer check reads ${seen.length} with imports\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
