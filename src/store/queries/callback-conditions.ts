import { type RawBuilder, sql } from "kysely";
import type { CallbackFilter } from "../../domain/index.ts";
import type { Dialect } from "../transaction.ts";

const ALWAYS = { from: "0001-01-01T00:00:00.000Z", to: "9999-12-31T23:59:59.999Z" };
const ANY_STATUS = [0, 999] as const;

/**
 * A filter as a condition. Its text is the same for every filter, so that it is one statement however many there are: what is
 * left out is NULL. None of it decides the plan; what does stands beside it.
 */
export function conditionsOf(dialect: Dialect, filter: CallbackFilter): RawBuilder<unknown> {
  const { from = ALWAYS.from, to = ALWAYS.to, statuses = ANY_STATUS } = filter;
  // What is dear, and lies behind long values in the row, comes last.
  return sql`received_at >= ${from} AND received_at < ${to}
    AND ${equal("source", filter.source)} AND ${equal("event_id", filter.eventId)}
    AND ${equal("event_type", filter.eventType)} AND ${equal("remote_address", filter.remoteAddress)}
    AND response_status >= ${statuses[0]} AND response_status <= ${statuses[1]}
    AND ${oneOf(dialect, filter.outcomes)} AND ${contains(dialect, filter.text)}`;
}

function equal(column: string, value: string | undefined): RawBuilder<unknown> {
  const given = value ?? null;
  return sql`(CAST(${given} AS text) IS NULL OR ${sql.ref(column)} = ${given})`;
}

function oneOf(dialect: Dialect, outcomes: readonly string[] | undefined): RawBuilder<unknown> {
  if (dialect === "postgres") {
    const given = outcomes ?? null;
    return sql`(CAST(${given} AS text[]) IS NULL OR outcome = ANY(CAST(${given} AS text[])))`;
  }
  const given = outcomes === undefined ? null : JSON.stringify(outcomes);
  return sql`(CAST(${given} AS text) IS NULL OR outcome IN (SELECT value FROM json_each(${given})))`;
}

/**
 * With the collation "C" PostgreSQL folds the letters A to Z alone, as SQLite's `lower` always does. SQLite holds everybody up
 * while it compares, and its `LIKE` begins the whole comparison anew at each letter, which a text of one letter many times and
 * bodies of the same make hundreds of times slower than `instr`.
 */
function contains(dialect: Dialect, text: string | undefined): RawBuilder<unknown> {
  const given = text ?? null;
  if (dialect === "sqlite")
    return sql`(CAST(${given} AS text) IS NULL OR instr(lower(request_body), lower(${given})) > 0)`;
  const pattern = text === undefined ? null : `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  return sql`(CAST(${pattern} AS text) IS NULL OR request_body COLLATE "C" ILIKE ${pattern} ESCAPE '\\')`;
}
