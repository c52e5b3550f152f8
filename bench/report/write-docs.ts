import { readFileSync, writeFileSync } from "node:fs";
import { plot } from "./plot.ts";
import type { Results } from "./results.ts";
import { report } from "./tables.ts";

const BEGIN = "<!-- figures: written by npm run bench -- --write-docs -->";
const END = "<!-- end of figures -->";

/** Replaces the figures of docs/performance.md, and the plot beside it. */
export function writeDocs(results: Results, docs: URL): void {
  const page = new URL("performance.md", docs);
  const figures = `![All cases as bars](performance.svg)\n\n${report(results)}`;
  const written = withFigures(readFileSync(page, "utf8"), figures);
  writeFileSync(new URL("performance.svg", docs), plot(results));
  writeFileSync(page, written);
}

/** @throws Error for a page without the two marks, rather than to guess where the figures belong */
export function withFigures(page: string, figures: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the page needs the lines "${BEGIN}" and "${END}"`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${figures}\n\n${page.slice(end)}`;
}
