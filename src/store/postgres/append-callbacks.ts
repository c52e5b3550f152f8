import { sql } from "kysely";
import type { CallbackLogRow } from "../../domain/index.ts";
import type { Access } from "../queries/access.ts";
import { CALLBACK_COLUMNS, callbackValues, STRANGER_COLUMNS, strangerValues } from "../queries/rows.ts";
import type { CallbackRow } from "../tables.ts";

const ALL = [...CALLBACK_COLUMNS, ...STRANGER_COLUMNS] as const;
const COLUMNS = sql.raw(ALL.join(", "));
/** All others are texts. */
const TYPES: Partial<Record<keyof CallbackRow, string>> = {
  received_at: "timestamptz",
  response_status: "integer",
  processing_ms: "double precision",
  with_record: "smallint",
  refused_bytes: "bigint",
};
const TYPED_COLUMNS = sql.raw(ALL.map((name) => `${name} ${TYPES[name] ?? "text"}`).join(", "));

/** All rows in one statement, so that they are stored together or not at all; its text is the same for any number. */
export async function appendCallbacks({ write }: Access, rows: readonly CallbackLogRow[]): Promise<void> {
  if (rows.length === 0) return;
  const objects = rows.map((row) => {
    const values = [...callbackValues(row, 0), ...(strangerValues(row) ?? [null, null, null])];
    return Object.fromEntries(ALL.map((name, index) => [name, values[index]]));
  });
  await sql`INSERT INTO oncehook_callbacks (${COLUMNS})
    SELECT ${COLUMNS} FROM jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) AS given (${TYPED_COLUMNS})`.execute(
    write,
  );
}
