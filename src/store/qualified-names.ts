import { remembered } from "../domain/index.ts";
import { BOOKKEEPING } from "./migrations/schema.ts";
import { STEPS } from "./migrations/steps.ts";

/** The texts of one schema: whichever search path a session has, they mean the tables in it. */
export interface QualifiedNames {
  /** A statement of Oncehook's own with the names of its tables qualified. */
  text(sql: string): string;
}

const CREATED = /CREATE TABLE (?:IF NOT EXISTS )?(oncehook_\w+)/g;

/** Every table that a step of the schema has made. Names of indexes, which take the schema of their table, are none. */
const OWN_TABLES: ReadonlySet<string> = new Set(
  [...Object.values(BOOKKEEPING), ...STEPS.map(({ text }) => text)].flatMap((text) =>
    [...text.matchAll(CREATED)].map(([, name = ""]) => name),
  ),
);

/** A name where a table may stand: not one of a column, such as `oncehook_failures.state`, which follows the table's. */
const NAME = /(DROP INDEX )?(?<![\w."'])(["']?)(oncehook_\w+)\2(?![\w"']|\s*\.)/g;

const MAX_TEXTS = 2_000;
const AS_THEY_ARE: QualifiedNames = { text: (sql) => sql };

/** @param schema the tables are where the search path finds them when left out */
export function qualifiedNames(schema: string | undefined): QualifiedNames {
  if (schema === undefined) return AS_THEY_ARE;
  const identifier = `"${schema.replaceAll('"', '""')}"`;
  const qualify = (sql: string) =>
    sql.replace(NAME, (match, dropped: string | undefined, quote: string, name: string) => {
      if (dropped === undefined && !OWN_TABLES.has(name)) return match;
      // A text that PostgreSQL reads as a name, such as the argument of to_regclass.
      if (quote === "'") return `'${identifier.replaceAll("'", "''")}.${name}'`;
      return `${dropped ?? ""}${identifier}.${name}`;
    });
  return { text: remembered(qualify, MAX_TEXTS) };
}
