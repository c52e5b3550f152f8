/** How a statement begins, by its words, in upper case. The rules need no more of them. */
export type LeadingWords = readonly string[];

const WORDS_KEPT = 3;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
/** An empty statement before the first one is none. */
const SPACE = /[\s;]+|--[^\n\r]*/y;

/**
 * How the statement of a text begins, up to its first sign that is no word. Comments nest as PostgreSQL nests them (manual,
 * 4.1.5). Every text goes as one statement through the extended protocol, so that no later word can matter.
 */
export function beginning(sql: string): LeadingWords {
  const words: string[] = [];
  for (let at = 0; words.length < WORDS_KEPT; ) {
    const space = match(SPACE, sql, at);
    if (space !== undefined) {
      at += space.length;
    } else if (sql.startsWith("/*", at)) {
      at = endOfComment(sql, at);
    } else {
      const word = match(WORD, sql, at);
      if (word === undefined) break;
      words.push(word.toUpperCase());
      at += word.length;
    }
  }
  return words;
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
