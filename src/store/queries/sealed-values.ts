import { sql } from "kysely";
import type { SealedKind, SealedValue, SealedValueStore } from "../sealed-values.ts";
import type { Access } from "./access.ts";

interface Place {
  readonly table: string;
  readonly column: string;
  readonly key: readonly string[];
}

const PLACES: Record<SealedKind, Place> = {
  failure: { table: "oncehook_failures", column: "sealed_body", key: ["event_id", "source"] },
  preparation: { table: "oncehook_preparations", column: "sealed_result", key: ["event_id", "source"] },
  user_tokens: { table: "oncehook_user_tokens", column: "sealed_tokens", key: ["user_id"] },
};

/** The values of `SealedValueStore`, in SQL that both databases speak. */
export function sealedValueQueries({ read, write }: Access): SealedValueStore {
  return {
    async page(kind, after, limit) {
      const { table, column, key } = PLACES[kind];
      const columns = sql.join(key.map((name) => sql.ref(name)));
      // No key is empty, so that the first page begins like every other, in the index.
      const start = sql.join(after ?? key.map(() => ""));
      const { rows } = await sql<Record<string, unknown>>`
        SELECT ${columns}, ${sql.ref(column)} AS sealed FROM ${sql.table(table)}
        WHERE (${columns}) > (${start}) AND ${sql.ref(column)} IS NOT NULL ORDER BY ${columns} LIMIT ${limit}`.execute(
        read,
      );
      return rows.map((row) => ({
        key: key.map((name) => String(row[name])),
        sealed: row.sealed as Uint8Array,
      }));
    },
    async replace(kind, value: SealedValue, sealed) {
      const { table, column, key } = PLACES[kind];
      const columns = sql.join(key.map((name) => sql.ref(name)));
      const done = await sql`
        UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sealed}
        WHERE (${columns}) = (${sql.join([...value.key])}) AND ${sql.ref(column)} = ${value.sealed}`.execute(
        write,
      );
      return Number(done.numAffectedRows) > 0;
    },
  };
}
