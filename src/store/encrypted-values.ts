import { sql } from "kysely";
import type { Database } from "./database.ts";
/** What of the database is encrypted, by the name of what it is. */
export type SealedKind = "failure" | "preparation" | "user_tokens";

export interface SealedValue {
  /** The columns of its primary key: event id and source, a user's id, or the hash of a state. */
  readonly key: readonly string[];
  readonly encrypted: Uint8Array;
}

/** Encrypted values wherever they are kept, for the rotation of their key. */
export interface SealedValueStore {
  /** The next ones in the order of their keys. */
  page(kind: SealedKind, after: SealedValue["key"] | undefined, limit: number): Promise<SealedValue[]>;
  /** False when it was changed or deleted meanwhile. */
  replace(kind: SealedKind, value: SealedValue, encrypted: Uint8Array): Promise<boolean>;
}

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly key: readonly string[];
}

const SEALED_COLUMNS: Record<SealedKind, SealedColumn> = {
  failure: { table: "oncehook_failures", column: "sealed_body", key: ["event_id", "source"] },
  preparation: { table: "oncehook_preparations", column: "sealed_result", key: ["event_id", "source"] },
  user_tokens: { table: "oncehook_user_tokens", column: "sealed_tokens", key: ["user_id"] },
};

/** The values of `SealedValueStore`, in SQL that both databases speak. */
export function sealedValueQueries({ read, write }: Database): SealedValueStore {
  return {
    async page(kind, after, limit) {
      const { table, column, key } = SEALED_COLUMNS[kind];
      const columns = sql.join(key.map((name) => sql.ref(name)));
      // No key is empty, so that the first page begins like every other, in the index.
      const start = sql.join(after ?? key.map(() => ""));
      const { rows } = await sql<Record<string, unknown>>`
        SELECT ${columns}, ${sql.ref(column)} AS encrypted FROM ${sql.table(table)}
        WHERE (${columns}) > (${start}) AND ${sql.ref(column)} IS NOT NULL ORDER BY ${columns} LIMIT ${limit}`.execute(
        read,
      );
      return rows.map((row) => ({
        key: key.map((name) => String(row[name])),
        encrypted: row.encrypted as Uint8Array,
      }));
    },
    async replace(kind, value: SealedValue, encrypted) {
      const { table, column, key } = SEALED_COLUMNS[kind];
      const columns = sql.join(key.map((name) => sql.ref(name)));
      const done = await sql`
        UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${encrypted}
        WHERE (${columns}) = (${sql.join([...value.key])}) AND ${sql.ref(column)} = ${value.encrypted}`.execute(
        write,
      );
      return Number(done.numAffectedRows) > 0;
    },
  };
}
