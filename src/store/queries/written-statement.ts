import { CompiledQuery, type Kysely } from "kysely";
import type { Tables } from "../tables.ts";
import type { Access } from "./access.ts";

/** Runs a statement with these values. */
export type Written<Row> = (
  ...values: readonly unknown[]
) => Promise<{ readonly rows: readonly Row[]; readonly changes: number }>;

/**
 * A statement that callbacks wait for, written once instead of built at each call, which takes longer than running it.
 * @param text with `$1` for the first value, as PostgreSQL has it
 */
export function written<Row = never>(
  { dialect }: Access,
  connection: Kysely<Tables>,
  text: string,
): Written<Row> {
  const sql = dialect === "sqlite" ? text.replace(/\$(?=\d)/g, "?") : text;
  return async (...values) => {
    const { rows, numAffectedRows = 0n } = await connection.executeQuery<Row>(
      CompiledQuery.raw(sql, [...values]),
    );
    return { rows, changes: Number(numAffectedRows) };
  };
}
