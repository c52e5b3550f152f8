/**
 * Holds how the code reads: comments in short sentences that name their subject, test titles with one, narrow tables.
 * CONTRIBUTING.md has the rules.
 */
import { globSync, readFileSync } from "node:fs";

interface Finding {
  readonly place: string;
  readonly text: string;
}

const MAX_WORDS = 20;
const MAX_COLUMNS = 240;
/** Tables that `npm run tables` writes from data. */
const GENERATED = new Set(["docs/platforms.md"]);
const TITLE = /\b(?:it|test)(?:\.\w+)?(?:\([^()"'`]*\))?\(\s*["'`]([^"'`]+)/g;
/** A title is a sentence: it does not begin with its verb. */
const BARE_VERBS = new Set(
  [
    "accepts adds answers asks begins can cannot closes comes counts deletes does ends fails finds gives goes handles",
    "heals holds ignores keeps leaves lets lists logs makes masks must names needs never only opens passes reads refuses",
    "rejects removes reports resolves responds retries returns runs says sends shows stops starts stores takes tells",
    "throws uses verifies waits warns writes",
  ].flatMap((words) => words.split(" ")),
);

const CODE = [...globSync("src/**/*.ts"), ...globSync("dashboard/src/**/*.{ts,tsx}")];
const TESTS = globSync("test/**/*.test.ts");
const PAGES = globSync(["README.md", "CONTRIBUTING.md", "docs/*.md"]);

const sentences = CODE.flatMap((file) =>
  commentsOf(readFileSync(file, "utf8")).flatMap((comment) =>
    comment.split(/(?<=[.:;])\s+(?=[A-Z`])/).map((text): Finding => ({ place: file, text })),
  ),
);

const RULES: readonly { readonly name: string; readonly found: readonly Finding[] }[] = [
  {
    name: "comments begin with their subject, not with a clause such as “What is left …”",
    found: sentences.filter(({ text }) => /^(?:What|Where|Whoever) /.test(text)),
  },
  {
    name: "comments say “only”, not “alone”",
    found: sentences.filter(({ text }) => /\balone\b/.test(text)),
  },
  {
    name: `a comment's sentence has at most ${MAX_WORDS} words`,
    found: sentences.filter(({ text }) => wordsOf(text) > MAX_WORDS),
  },
  { name: "a test's title names its subject", found: TESTS.flatMap(titlesWithoutSubject) },
  {
    name: `a row of a table has at most ${MAX_COLUMNS} columns`,
    found: PAGES.filter((page) => !GENERATED.has(page)).flatMap(wideRows),
  },
];

/** The text of each comment, line breaks as spaces; a tag such as `@returns` begins another one. */
function commentsOf(source: string): string[] {
  const comments: string[] = [];
  let current: string[] = [];
  const end = () => {
    if (current.length > 0) comments.push(current.join(" "));
    current = [];
  };
  for (const line of source.split("\n")) {
    const text = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*?)\s*(?:\*\/)?$/.exec(line)?.[1];
    if (text === undefined || text === "" || text.startsWith("@")) end();
    if (text) current.push(text.replace(/^@\w+\s*/, ""));
    if (/\*\/\s*$/.test(line)) end();
  }
  end();
  return comments;
}

/** An address and a piece of code count as one word. */
function wordsOf(sentence: string): number {
  return sentence
    .replace(/https?:\S+|`[^`]*`/g, "x")
    .split(/\s+/)
    .filter(Boolean).length;
}

function titlesWithoutSubject(file: string): Finding[] {
  const titles = [...readFileSync(file, "utf8").matchAll(TITLE)].map(([, title]) => String(title));
  return titles.filter((title) => BARE_VERBS.has(title.split(" ")[0] ?? "")).map((text) => ({ place: file, text }));
}

function wideRows(page: string): Finding[] {
  const rows = readFileSync(page, "utf8").split("\n");
  return rows.filter((row) => row.startsWith("|") && row.length > MAX_COLUMNS).map((text) => ({ place: page, text }));
}

for (const { name, found } of RULES) {
  if (found.length > 0) process.stdout.write(`${name}; ${found.length} do not:\n`);
  for (const { place, text } of found) process.stdout.write(`  ${place}: ${text.slice(0, 100)}\n`);
}
process.exitCode = RULES.every(({ found }) => found.length === 0) ? 0 : 1;
