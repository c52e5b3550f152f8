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

/** The database that is copied. It is locked against every other process until it is closed, and not changed. */
export interface CopySource {
  readonly schema: number;
  readonly settings: ReadonlyMap<string, string>;
  /** The migrations of handlers and of the configuration that were applied, each by its identity. */
  readonly migrations: readonly string[];
  readonly tables: readonly SourceTable[];
  /** The rows after a position, from the first one where there is none. */
  rows(table: string, columns: readonly string[], after: string | undefined): Iterable<SourceRow>;
  close(): void;
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
  /** The tables that its foreign keys point to. */
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

export interface CopyTarget {
  readonly migrations: readonly string[];
  readonly tables: readonly TargetTable[];
  readonly progress: CopyProgress | undefined;
  /** Stores rows and the progress that includes them in one transaction. */
  write(pair: CopyPair, rows: readonly SourceRow[], progress: CopyProgress): Promise<void>;
  /** Stores a progress without rows. From here on no receiver starts on the target. */
  begin(progress: CopyProgress): Promise<void>;
  /**
   * Compares every table with the source, inside a transaction that locks them, and then releases the target.
   * @throws MaintenanceError that names the tables that differ; the target stays unreleased
   */
  finish(
    pairs: readonly CopyPair[],
    settings: ReadonlyMap<string, string>,
    source: SourceBatches,
  ): Promise<readonly Fingerprint[]>;
  /** Each table's content, if all of them hold what the source does, as after a copy that has finished. */
  completed(pairs: readonly CopyPair[], source: SourceBatches): Promise<readonly Fingerprint[] | undefined>;
  close(): Promise<void>;
}

/** Written by the migrations of each database for itself, or merged at the end of a copy. */
export const NOT_COPIED: ReadonlySet<string> = new Set([
  "oncehook_schema",
  "oncehook_handler_migrations",
  "oncehook_settings",
]);

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
