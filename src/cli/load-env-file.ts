import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { fileTrouble } from "../domain/index.ts";
import { UserMistake } from "./user-mistake.ts";

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*(.*)$/;
const NOTHING = /^\s*(?:#.*)?$/;
const QUOTES = ["'", '"', "`"];

/** Sets what the file holds, where the environment does not. @throws UserMistake */
export function loadEnvFile(file: string): void {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new UserMistake(`--env: got "${file}", which ${fileTrouble(cause)}`, { cause });
  }
  const wrong = strayLine(text.split(/\r?\n/));
  if (wrong !== undefined) {
    // The line itself is not shown: it may be a part of a secret.
    throw new UserMistake(
      `--env: "${file}", line ${wrong}: expected NAME=value, a comment after #, or nothing`,
    );
  }
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}

/** The number of the first line that says nothing, which Node's own reader passes over in silence. */
function strayLine(lines: readonly string[]): number | undefined {
  let quote: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (quote !== undefined) {
      if (line.includes(quote)) quote = undefined;
      continue;
    }
    if (NOTHING.test(line)) continue;
    const [, value] = ASSIGNMENT.exec(line) ?? [];
    if (value === undefined) return index + 1;
    const [first = ""] = value;
    if (QUOTES.includes(first) && !value.slice(1).includes(first)) quote = first;
  }
  return undefined;
}
