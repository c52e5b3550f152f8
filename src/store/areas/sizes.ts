import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { Area, select } from "../database.ts";

/** The tables of the service by what they hold for an operator; `others` are all that are not named. */
const TABLES = {
  callbacks: ["oncehook_callbacks", "oncehook_late_callbacks"],
  originals: ["oncehook_originals"],
  records: [
    "oncehook_records",
    "oncehook_signed_bytes",
    "oncehook_preparations",
    "oncehook_backfilled",
    "oncehook_order_keys",
  ],
  failures: ["oncehook_failures", "oncehook_problem_states"],
  attempts: ["oncehook_attempts"],
  notifications: ["oncehook_notifications", "oncehook_deliveries"],
  replays: ["oncehook_event_replays", "oncehook_bulk_replays", "oncehook_unreplayed_events", "oncehook_backfills"],
  statements: ["oncehook_recorded_runs"],
  value_index: ["oncehook_value_segments", "oncehook_value_blocks"],
  audit: ["oncehook_audit", "oncehook_sessions"],
  others: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type StoredArea = keyof typeof TABLES;

/** Tables whose rows an operator counts; null where a row of the area is a block or a detail. */
const ENTRIES: Readonly<Record<StoredArea, readonly string[] | null>> = {
  callbacks: ["oncehook_callbacks"],
  originals: null,
  records: ["oncehook_records"],
  failures: ["oncehook_failures"],
  attempts: ["oncehook_attempts"],
  notifications: ["oncehook_notifications"],
  replays: ["oncehook_event_replays", "oncehook_bulk_replays", "oncehook_backfills"],
  statements: ["oncehook_recorded_runs"],
  value_index: null,
  audit: ["oncehook_audit", "oncehook_sessions"],
  others: null,
};

const AREAS = Object.keys(TABLES) as StoredArea[];
const AREA_OF = new Map<string, StoredArea>(AREAS.flatMap((area) => TABLES[area].map((table) => [table, area])));

/** How much a table holds, or several of them. */
export interface StoredSize {
  /** Estimated where there are many. */
  readonly rows: number;
  /** On PostgreSQL all of it on the disk, with the indexes; on SQLite the content of the rows, estimated. */
  readonly bytes: number;
}

export interface AreaSize extends StoredSize {
  readonly area: StoredArea;
  /** Rows that an operator counts, such as callbacks; null where there are none of them. */
  readonly entries: number | null;
  /** Whether its rows were not counted. */
  readonly isEstimated: boolean;
}

export interface StoredSizes {
  readonly areas: readonly AreaSize[];
  /** Of the whole database. */
  readonly databaseBytes: number;
  /** The part of SQLite's file that is free for new rows; null on PostgreSQL. */
  readonly freeBytes: number | null;
}

/** A table with fewer ids is counted. */
const COUNTED_IDS = 10_000;
/** Of a table with more, the rows in some windows of ids stand for all. */
const [WINDOWS, WINDOW_IDS] = [8, 64];

interface TableSize extends StoredSize {
  readonly name: string;
  readonly isEstimated: boolean;
}

const sumOf = (tables: readonly TableSize[], of: keyof StoredSize) => tables.reduce((sum, table) => sum + table[of], 0);

/** The sizes of the service's tables, without reading more than some hundred rows of any, however many it holds. */
export class Sizes extends Area {
  async list(): Promise<StoredSizes> {
    const isPostgres = this.database.dialect === "postgres";
    const tables = isPostgres ? await this.ofPostgres() : await this.ofSqlite();
    const areas = AREAS.map((area) => {
      const ofArea = tables.filter(({ name }) => (AREA_OF.get(name) ?? "others") === area);
      const counted = ENTRIES[area];
      const ofEntries = ofArea.filter(({ name }) => counted?.includes(name));
      return {
        area,
        rows: sumOf(ofArea, "rows"),
        bytes: sumOf(ofArea, "bytes"),
        entries: counted === null ? null : sumOf(ofEntries, "rows"),
        isEstimated: ofArea.some(({ isEstimated }) => isEstimated),
      };
    });
    return { areas, ...(isPostgres ? await this.databaseOfPostgres() : await this.fileOfSqlite()) };
  }

  /** The estimates of its statistics: what the last vacuum or analysis saw, and the rows that were counted since. */
  private async ofPostgres(): Promise<readonly TableSize[]> {
    // A setting says in which schema the tables are: names in a text are not qualified.
    const tables = await this.read<StoredSize & { name: string }>`
      SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes,
        CAST(greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0) AS bigint) AS rows
      FROM pg_class AS c WHERE c.relkind = 'r' AND starts_with(c.relname, 'oncehook_') AND c.relnamespace =
        (SELECT relnamespace FROM pg_class WHERE oid = (SELECT tableoid FROM oncehook_settings LIMIT 1))`;
    return tables.map((table) => ({ ...table, isEstimated: true }));
  }

  private async databaseOfPostgres() {
    const [database] = await this.read<{ bytes: number }>`SELECT pg_database_size(current_database()) AS bytes`;
    return { databaseBytes: database?.bytes ?? 0, freeBytes: null };
  }

  private async ofSqlite(): Promise<readonly TableSize[]> {
    const tables = await this.read<{ name: string }>`SELECT name FROM sqlite_schema
      WHERE type = 'table' AND substr(name, 1, 9) = 'oncehook_'`;
    const sizes: TableSize[] = [];
    for (const { name } of tables) {
      sizes.push({ name, ...(await this.sampled(name)) });
      // No callback waits for all of them.
      await nextTurn();
    }
    return sizes;
  }

  private async fileOfSqlite() {
    const [file] = await this.read<{ databaseBytes: number; freeBytes: number }>`
      SELECT page_count * page_size AS database_bytes, freelist_count * page_size AS free_bytes
      FROM pragma_page_count, pragma_page_size, pragma_freelist_count`;
    return file ?? { databaseBytes: 0, freeBytes: 0 };
  }

  /** SQLite keeps no count of rows: their ids and some windows of them tell it. */
  private async sampled(name: string): Promise<Omit<TableSize, "name">> {
    const table = sql.table(name);
    const [ends] = await this.read<{ first: number | null; last: number | null }>`
      SELECT (SELECT min(rowid) FROM ${table}) AS first, (SELECT max(rowid) FROM ${table}) AS last`;
    const { first, last } = ends ?? { first: null, last: null };
    if (first === null || last === null) return { rows: 0, bytes: 0, isEstimated: false };
    const ids = last - first + 1;
    const columns = await this.read<{ name: string }>`SELECT name FROM pragma_table_info(${name})`;
    const lengths = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column.name)}), 0)`);
    const windows = Array.from({ length: WINDOWS }, (_, at) => first + Math.floor((at * ids) / WINDOWS));
    const width = Math.min(WINDOW_IDS, Math.max(1, Math.floor(ids / WINDOWS)));
    const parts = windows.map(
      (from) => sql`SELECT count(*) AS rows, coalesce(sum(${sql.join(lengths, sql` + `)}), 0) AS bytes
        FROM ${table} WHERE rowid >= ${from} AND rowid < ${from + width}`,
    );
    const sample = await select<StoredSize>(this.database, sql.join(parts, sql` UNION ALL `));
    const seen = sample.reduce((sum, { rows }) => sum + rows, 0);
    const bytes = sample.reduce((sum, one) => sum + one.bytes, 0);
    const isEstimated = ids > COUNTED_IDS;
    const rows = isEstimated ? Math.round((seen * ids) / (WINDOWS * width)) : await this.counted(name);
    return { rows, bytes: seen === 0 ? 0 : Math.round((bytes * rows) / seen), isEstimated };
  }

  private async counted(name: string): Promise<number> {
    const [counted] = await this.read<{ rows: number }>`SELECT count(*) AS rows FROM ${sql.table(name)}`;
    return counted?.rows ?? 0;
  }
}
