import type { Dialect } from "../transaction.ts";

/** One numbered step of the service's own schema. Never edited after a release; a change is a new step. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  statements(types: ColumnTypes): readonly string[];
}

/** Where the two databases spell a column differently. */
export interface ColumnTypes {
  readonly id: string;
  readonly time: string;
  readonly bytes: string;
  readonly bigint: string;
  /** Compared byte for byte, whatever the database's locale. */
  readonly eventId: string;
}

export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { id: "integer PRIMARY KEY", time: "text", bytes: "blob", bigint: "integer", eventId: "text" },
  postgres: {
    id: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    time: "timestamptz",
    bytes: "bytea",
    bigint: "bigint",
    eventId: 'text COLLATE "C"',
  },
};
