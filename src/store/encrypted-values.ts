import { sql } from "kysely";
import { Area } from "./database.ts";

export type EncryptedKind = "failure" | "preparation" | "user_tokens" | "source_secret";

export interface EncryptedValue {
  /** The columns of its primary key: event id and source, a user's id, or source and fingerprint. */
  readonly key: readonly string[];
  readonly encrypted: Uint8Array;
}

const COLUMNS: Record<EncryptedKind, { table: string; column: string; key: readonly string[] }> = {
  failure: { table: "oncehook_failures", column: "encrypted_body", key: ["event_id", "source"] },
  preparation: { table: "oncehook_preparations", column: "encrypted_result", key: ["event_id", "source"] },
  user_tokens: { table: "oncehook_user_tokens", column: "encrypted_tokens", key: ["user_id"] },
  source_secret: {
    table: "oncehook_source_secrets",
    column: "encrypted_secret",
    key: ["source", "fingerprint"],
  },
};

/** Encrypted values of every table, for the rotation of their key. */
export class EncryptedValues extends Area {
  /** The next ones in the order of their keys. */
  async page(
    kind: EncryptedKind,
    after: EncryptedValue["key"] | undefined,
    limit: number,
  ): Promise<EncryptedValue[]> {
    const { table, column, key } = COLUMNS[kind];
    const columns = sql.join(key.map((name) => sql.ref(name)));
    // No key is empty, so that the first page begins like every other, in the index.
    const start = sql.join(after ?? key.map(() => ""));
    const rows = await this.read<{ encrypted: Uint8Array }>`
      SELECT ${columns}, ${sql.ref(column)} AS encrypted FROM ${sql.table(table)}
      WHERE (${columns}) > (${start}) AND ${sql.ref(column)} IS NOT NULL ORDER BY ${columns} LIMIT ${limit}`;
    return rows.map(({ encrypted, ...keys }) => ({ key: Object.values(keys).map(String), encrypted }));
  }

  /** Returns false if it was changed or deleted meanwhile. */
  async replace(kind: EncryptedKind, value: EncryptedValue, encrypted: Uint8Array): Promise<boolean> {
    const { table, column, key } = COLUMNS[kind];
    const columns = sql.join(key.map((name) => sql.ref(name)));
    const { changes } = await this.write`
      UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${encrypted}
      WHERE (${columns}) = (${sql.join([...value.key])}) AND ${sql.ref(column)} = ${value.encrypted}`;
    return changes > 0;
  }
}
