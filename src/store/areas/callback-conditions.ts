import { type RawBuilder, sql } from "kysely";
import type { CallbackFilter } from "../../domain/index.ts";
import type { Dialect } from "../transaction.ts";

const ALWAYS = { from: "0001-01-01T00:00:00.000Z", to: "9999-12-31T23:59:59.999Z" };
const ANY_STATUS = [0, 999] as const;

/** A filter as a condition, whose text is the same for every filter. None of it decides the plan; what does stands beside it. */
export function conditionsOf(dialect: Dialect, filter: CallbackFilter): RawBuilder<unknown> {
  const { from = ALWAYS.from, to = ALWAYS.to, statuses = ANY_STATUS } = filter;
  // A condition that is dear, and lies behind long values in the row, comes last.
  return sql`received_at >= ${from} AND received_at < ${to}
    AND ${isGiven("source", filter.source)} AND ${isGiven("event_id", filter.eventId)}
    AND ${isGiven("event_type", filter.eventType)} AND ${beginsWith("event_type", filter.eventTypePrefix)}
    AND ${isGiven("remote_address", filter.remoteAddress)}
    AND response_status >= ${statuses[0]} AND response_status <= ${statuses[1]}
    AND ${oneOf(dialect, filter.outcomes)} AND ${contains(dialect, filter.text)}
    AND ${containsAnywhere(dialect, filter.anywhere)}`;
}

function isGiven(column: string, given: string | null = null): RawBuilder<unknown> {
  return sql`(CAST(${given} AS text) IS NULL OR ${sql.ref(column)} = ${given})`;
}

function oneOf(dialect: Dialect, outcomes: readonly string[] | undefined): RawBuilder<unknown> {
  if (dialect === "postgres")
    return sql`(CAST(${outcomes} AS text[]) IS NULL OR outcome = ANY(CAST(${outcomes} AS text[])))`;
  const given = outcomes && JSON.stringify(outcomes);
  return sql`(CAST(${given} AS text) IS NULL OR outcome IN (SELECT value FROM json_each(${given})))`;
}

function beginsWith(column: string, given: string | null = null): RawBuilder<unknown> {
  return sql`(CAST(${given} AS text) IS NULL
    OR substr(${sql.ref(column)}, 1, length(CAST(${given} AS text))) = ${given})`;
}

/** The long ones of those columns. SQLite knows how long a value is without reading it. */
export const COMPARED_BYTES = sql`coalesce(octet_length(request_headers), 0) + coalesce(octet_length(request_body), 0)`;

/** Besides headers and body, the columns that values are read from. */
const SHORT_COLUMNS = ["event_id", "request_id", "remote_address", "url"];

/**
 * With the collation "C" PostgreSQL folds only the letters A to Z, as SQLite's `lower` always does. SQLite blocks the event
 * loop while it compares, and its `LIKE` restarts the comparison at each letter. A text of one letter many times, on bodies of
 * the same, is hundreds of times slower than by `instr`.
 */
function contains(dialect: Dialect, text: string | undefined): RawBuilder<unknown> {
  const given = dialect === "sqlite" ? text : text && patternOf(text);
  return sql`(CAST(${given} AS text) IS NULL OR ${has(dialect, "request_body", given)})`;
}

/** The longest column comes last. The second part is compared only where a column has the first one. */
function containsAnywhere(dialect: Dialect, anywhere: CallbackFilter["anywhere"]): RawBuilder<unknown> {
  const [first, second = ""] = anywhere?.parts ?? [];
  const [one, other] = dialect === "sqlite" ? [first, second] : [first && patternOf(first), patternOf(second)];
  const hasBoth = (column: string) => sql`(${has(dialect, column, one)} AND ${has(dialect, column, other)})`;
  const short = sql.join(SHORT_COLUMNS.map(hasBoth), sql` OR `);
  const withHeaders = anywhere?.headers === true ? 1 : 0;
  return sql`(CAST(${one} AS text) IS NULL OR ${short}
    OR (CAST(${withHeaders} AS integer) = 1 AND ${hasBoth("request_headers")}) OR ${hasBoth("request_body")})`;
}

/** Any text has the empty one. */
function has(dialect: Dialect, column: string, given: string | undefined): RawBuilder<unknown> {
  return dialect === "sqlite"
    ? sql`instr(lower(${sql.ref(column)}), lower(${given})) > 0`
    : sql`${sql.ref(column)} COLLATE "C" ILIKE ${given} ESCAPE '\\'`;
}

function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}
