/** `npm run demo:platforms`: every platform that has a proof, against one receiver, over HTTP. */
import { table } from "../src/cli/output.ts";
import { COLUMNS, type DemoRow, runPlatformDemo } from "./platform-demo.ts";
import { PROOFS } from "./proofs/index.ts";

const rows = await runPlatformDemo(PROOFS);
process.stdout.write(`${table(["platform", ...COLUMNS, ""], rows.map(cellsOf))}\n\n`);
const mistakes = rows.flatMap(mistakesOf);
if (mistakes.length === 0) {
  process.stdout.write(`All ${rows.length} platforms are right: each event had its effect exactly once.\n`);
} else {
  process.stdout.write(`${mistakes.join("\n")}\n`);
  process.exitCode = 1;
}

function cellsOf(row: DemoRow): string[] {
  const isRight = mistakesOf(row).length === 0;
  const { platform, checks } = row;
  return [platform, ...COLUMNS.map((column) => checks[column].got.slice(0, 20)), isRight ? "ok" : "WRONG"];
}

function mistakesOf({ platform, checks }: DemoRow): string[] {
  return COLUMNS.flatMap((column) => {
    const { got, expected } = checks[column];
    return expected === undefined ? [] : `${platform}, ${column}: expected ${expected}, got ${got}`;
  });
}
