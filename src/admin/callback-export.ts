import { setTimeout as sleep } from "node:timers/promises";
import type { CallbackFilter } from "../domain/index.ts";
import type { CallbackStore } from "../store/index.ts";
import { presentCallback } from "./present.ts";
import { CALLBACK, type CallbackView } from "./shapes.ts";

/** Bodies may be long, and a page is in memory as a whole. */
const PAGE = 50;
const BUDGET_MS = 20;
const COLUMNS = Object.keys(CALLBACK.shape) as (keyof CallbackView)[];

/** Everything that matches, newest first, page by page as it is read; it ends where the reader has gone, found something or not. */
export async function* exportLines(
  callbacks: CallbackStore,
  filter: CallbackFilter,
  format: "ndjson" | "csv",
  gone: AbortSignal,
): AsyncGenerator<string, void, void> {
  if (format === "csv") yield csvLine(COLUMNS);
  const lineOf = format === "csv" ? csvRow : (view: CallbackView) => `${JSON.stringify(view)}\n`;
  for (let before: number | null | undefined; before !== null && !gone.aborted; ) {
    const begun = performance.now();
    const search = { limit: PAGE, budgetMs: BUDGET_MS, ...(before === undefined ? {} : { before }) };
    const found = await callbacks.search(filter, search);
    const lines = found.callbacks.map((row) => lineOf(presentCallback(row))).join("");
    before = found.next;
    // At most half of the time is the export's: callbacks are answered meanwhile.
    await sleep(performance.now() - begun);
    if (lines !== "") yield lines;
  }
}

function csvRow(view: CallbackView): string {
  return csvLine(
    COLUMNS.map((name) => {
      const value = view[name];
      if (value === null) return "";
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    }),
  );
}

/** What spreadsheets take for the beginning of a formula, full-width signs too, also behind what is not seen. */
const RUNS = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/**
 * A spreadsheet that splits at `;` or tabs, as many locales do, does not know these quotes: a part behind one of them, or behind a
 * line end, is a cell of its own. The second group is its sign, where it begins with one.
 */
const PARTS = /([;\t\r\n][;\s\p{Cc}\p{Cf}"']*)([=+\-@＝＋－＠]?)/gu;

/** RFC 4180, every cell in quotes. An apostrophe has a spreadsheet take what follows for text. */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const text = cell.replace(PARTS, (part, before, sign) => (sign === "" ? part : `${before}'${sign}`));
    return `"${(RUNS.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  });
  return `${quoted.join(",")}\r\n`;
}
