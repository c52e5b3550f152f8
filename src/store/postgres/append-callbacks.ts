import { sql } from "kysely";
import { CALLBACK_COLUMNS, callbackValues, REFUSED_COLUMNS, refusedValues } from "../callback-columns.ts";
import { type Database, run } from "../database.ts";
import { type NewBlock, type NewLogRow, sealOriginals } from "../original-keeper.ts";
import { pauseOriginalsAfter } from "./groups/event-statements.ts";
import { CALLBACK_COLUMN_TYPES } from "./groups/event-texts.ts";

const LOG_COLUMNS = [...CALLBACK_COLUMNS, ...REFUSED_COLUMNS] as const;
const LOG_COLUMN_LIST = sql.raw(LOG_COLUMNS.join(", "));
const TYPED_LOG_COLUMNS = sql.raw(
  LOG_COLUMNS.map((name) => `${name} ${CALLBACK_COLUMN_TYPES[name] ?? "text"}`).join(", "),
);

/** One statement, so that all are stored or none; its text is the same for any number. A column without a value is NULL. */
export async function appendCallbacks({ write }: Database, rows: readonly NewLogRow[]): Promise<void> {
  if (rows.length === 0) return;
  const objects = rows.map((row) => {
    const values = [...callbackValues(row, 0), ...(refusedValues(row) ?? [])];
    return Object.fromEntries(LOG_COLUMNS.map((name, index) => [name, values[index]]));
  });
  const given = sql`jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) AS given (${TYPED_LOG_COLUMNS})`;
  const logged = sql`INSERT INTO oncehook_callbacks (${LOG_COLUMN_LIST}) SELECT ${LOG_COLUMN_LIST} FROM ${given}`;
  const kept = rows.flatMap(({ unhandled }) => unhandled ?? []);
  const blocks = sealOriginals(kept).map(({ block }) => block);
  if (blocks.length === 0) return void (await run(write, logged));
  try {
    await run(write, sql`WITH logged AS (${logged} RETURNING id) ${insertLoggedOriginals(blocks)}`);
  } catch (error) {
    if (!pauseOriginalsAfter(error, kept)) throw error;
    await run(write, logged);
  }
}

/** Each block has the ids of all rows. A look into the blocks finds the one that an event is in. */
function insertLoggedOriginals(blocks: readonly NewBlock[]) {
  const values = blocks.map(
    ({ keepUntil, newestAt, encrypted }) =>
      sql`(${keepUntil}::timestamptz, ${newestAt}::timestamptz, ${encrypted}::bytea)`,
  );
  return sql`INSERT INTO oncehook_originals
      (is_merged, keep_until, newest_at, encrypted_block, first_callback_id, last_callback_id)
    SELECT 0, block.*, range.* FROM (VALUES ${sql.join(values)}) AS block
    CROSS JOIN (SELECT min(id), max(id) FROM logged) AS range`;
}
