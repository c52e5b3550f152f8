/** The statements of `once`, over the receiver's own tables. */
export interface Statements {
  readonly claim: string;
  readonly claimAlone: string;
  readonly look: string;
  readonly complete: string;
}

/**
 * Marks this transaction, and returns its mark: `once` may run inside the `run` of another one. The setting is local
 * and ends with the transaction: a statement that is sent afterwards finds it gone.
 */
export const MARK = `SELECT set_config('oncehook.once',
  coalesce(nullif(current_setting('oncehook.once', true), ''), $1::text), true) AS mark`;

const IS_MARKED = (mark: string) => `current_setting('oncehook.once', true) = ${mark}::text`;

const texts = new Map<string | undefined, Statements>();

/** @param schema of the receiver's tables; undefined for those that search_path finds */
export function statementsFor(schema: string | undefined): Statements {
  const kept = texts.get(schema);
  if (kept !== undefined) return kept;
  const prefix = schema === undefined ? "" : `"${schema.replaceAll('"', '""')}".`;
  const made = statementTexts(prefix);
  texts.set(schema, made);
  return made;
}

function statementTexts(prefix: string): Statements {
  // The receiver and the retention job go by the time at which a row was written, which now() is not.
  const insert = `INSERT INTO ${prefix}oncehook_records
    (source, event_id, event_type, version, status, body_sha256, created_at)
    SELECT $1::text, $2::text, $3::text, 'v1', 'processing', $4::text, clock_timestamp() WHERE ${IS_MARKED("$5")}`;
  return {
    // A conflict with a transaction that is still open waits for its end.
    claim: `${insert} ON CONFLICT (event_id, source) DO NOTHING RETURNING ctid::text AS place`,
    claimAlone: insert,
    look: `SELECT (${IS_MARKED("$3")})::text AS marked, status, result
      FROM (SELECT 1) AS one LEFT JOIN ${prefix}oncehook_records ON event_id = $1::text AND source = $2::text`,
    // By the row's place: a search of an index locks its page under SERIALIZABLE, against the events of others.
    complete: `WITH failure AS (DELETE FROM ${prefix}oncehook_failures WHERE event_id = $3::text AND source = $4::text),
      preparation AS (DELETE FROM ${prefix}oncehook_preparations WHERE event_id = $3::text AND source = $4::text)
      UPDATE ${prefix}oncehook_records SET status = 'completed', result = $1::text, processed_at = clock_timestamp()
      WHERE ctid = $2::text::tid AND event_id = $3::text AND source = $4::text AND status = 'processing'
        AND ${IS_MARKED("$5")} RETURNING 'completed' AS status`,
  };
}
