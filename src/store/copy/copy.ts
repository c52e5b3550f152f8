import { MaintenanceError } from "../store-errors.ts";

/** A value as SQLite holds it; integers keep all their digits. */
export type SourceValue = bigint | number | string | Uint8Array | null;

/** A row of the source, and the position after which a later run continues. */
export interface SourceRow {
  readonly position: string;
  readonly values: readonly SourceValue[];
}

export interface SourceTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
}

export interface TargetColumn {
  readonly name: string;
  /** PostgreSQL's name of the type, such as `timestamptz`. */
  readonly kind: string;
  /** The type as a cast needs it, such as `numeric(10,2)`. */
  readonly type: string;
  /** The same without its limits, such as `numeric`: a cast to it cuts nothing off. */
  readonly unlimited: string;
  /** Computed by the database, which refuses any other value. */
  readonly isGenerated: boolean;
}

export interface TargetTable {
  readonly name: string;
  readonly columns: readonly TargetColumn[];
  readonly isEmpty: boolean;
  readonly pointsTo: readonly string[];
}

/** A table of the source and where its rows go. Both column lists have one order. */
export interface CopyPair {
  readonly from: SourceTable;
  readonly fromColumns: readonly string[];
  readonly to: string;
  readonly toColumns: readonly TargetColumn[];
}

/** How far a copy has come. It is stored in the target, in the transaction of the rows that it counts. */
export interface CopyProgress {
  readonly from: string;
  /** By the source's table: the position of the last row that was copied, and how many were. */
  readonly positions: Readonly<Record<string, { readonly after: string; readonly copied: number }>>;
}

/** A table's content: equal for two tables with the same rows, whatever their order. */
export interface Fingerprint {
  readonly rows: number;
  readonly digest: bigint;
}

/** All rows of a table of the source, some at a time. */
export type SourceBatches = (pair: CopyPair) => Iterable<readonly SourceRow[]>;

/** Identifies an applied migration, whatever the time it was applied. */
export function migrationIdentity({ handler, name }: Readonly<Record<string, unknown>>): string {
  return [handler, name].map(String).sort().join(" of ");
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Columns that name rows which may be deleted already. The ids that the target gives from now on lie beyond these too. A new
 * row would be taken for the old one otherwise.
 */
export const ID_REFERENCES: Readonly<Record<string, readonly (readonly [table: string, column: string])[]>> = {
  oncehook_callbacks: [["oncehook_records", "callback_id"]],
  oncehook_bulk_replays: [["oncehook_failures", "bulk_replay_id"]],
  oncehook_event_replays: [["oncehook_notifications", "event_replay_id"]],
  oncehook_notifications: [["oncehook_alerts", "notification_id"]],
  oncehook_failures: [
    ["oncehook_bulk_replays", "up_to_id"],
    ["oncehook_bulk_replays", "after_id"],
  ],
};

/** The text that PostgreSQL reads as this value. @throws MaintenanceError for a value that the type cannot hold */
export function toPostgresText(value: SourceValue, { kind, name }: TargetColumn): string | null {
  if (value === null) return null;
  if (kind === "bytea") return `\\x${Buffer.from(value instanceof Uint8Array ? value : String(value)).toString("hex")}`;
  if (value instanceof Uint8Array)
    throw new MaintenanceError(`column "${name}" holds bytes in SQLite, and its type in PostgreSQL is ${kind}`);
  if (typeof value === "string" && value.includes("\u0000"))
    throw new MaintenanceError(
      `column "${name}" holds a NUL character, which no text of PostgreSQL can hold; remove it in the source`,
    );
  return String(value);
}
