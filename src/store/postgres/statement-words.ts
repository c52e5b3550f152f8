/** How a statement begins, by its words, in upper case. More are needed by none of the rules. */
export type Beginning = readonly string[];

const WORDS_KEPT = 3;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const SPACE = /\s+|--[^\n\r]*/y;
const PLAIN_STRING = /'(?:[^']|'')*(?:'|$)/y;
const ESCAPE_STRING = /[eE]'(?:[^'\\]|''|\\[\s\S])*(?:'|$)/y;
const QUOTED_NAME = /"(?:[^"]|"")*(?:"|$)/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const BODY_BLOCKS = ["BEGIN", "CASE"];

/**
 * How each statement of a text begins, read as PostgreSQL reads it (manual, 4.1): comments nest, and a semicolon in a string,
 * a dollar quote or the body of an SQL function ends no statement. Assumes `standard_conforming_strings`.
 */
export function beginnings(sql: string): Beginning[] {
  const found: string[][] = [];
  let current: string[] = [];
  let previous = "";
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    const skipped = skip(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const word = match(WORD, sql, at)?.toUpperCase();
    at += word?.length ?? 1;
    if (word === undefined) {
      if (sql[at - 1] === ";" && depth === 0) {
        if (current.length > 0) found.push(current);
        current = [];
      } else if (current.length < WORDS_KEPT) current.push(sql[at - 1] as string);
      continue;
    }
    if (current.length < WORDS_KEPT) current.push(word);
    // The body of CREATE FUNCTION … BEGIN ATOMIC … END holds statements of its own.
    if (current[0] === "CREATE" && previous === "BEGIN" && word === "ATOMIC") depth = 1;
    else if (depth > 0 && BODY_BLOCKS.includes(word)) depth += 1;
    else if (depth > 0 && word === "END") depth -= 1;
    previous = word;
  }
  return current.length > 0 ? [...found, current] : found;
}

/** Where the white space, comment or quoted text that begins here ends; `at` itself where none does. */
function skip(sql: string, at: number): number {
  for (const token of [SPACE, ESCAPE_STRING, PLAIN_STRING, QUOTED_NAME]) {
    const found = match(token, sql, at);
    if (found !== undefined) return at + found.length;
  }
  if (sql.startsWith("/*", at)) return endOfComment(sql, at);
  const tag = match(DOLLAR_TAG, sql, at);
  if (tag === undefined) return at;
  const end = sql.indexOf(tag, at + tag.length);
  return end === -1 ? sql.length : end + tag.length;
}

function endOfComment(sql: string, from: number): number {
  let depth = 0;
  for (let at = from; at < sql.length; ) {
    if (sql.startsWith("/*", at)) depth += 1;
    else if (sql.startsWith("*/", at)) depth -= 1;
    else {
      at += 1;
      continue;
    }
    at += 2;
    if (depth === 0) return at;
  }
  return sql.length;
}

function match(token: RegExp, sql: string, at: number): string | undefined {
  token.lastIndex = at;
  return token.exec(sql)?.[0];
}
