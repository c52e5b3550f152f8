import { OVERVIEW_RANGES, type OverviewRange, periodStart, type RollupCount } from "../../domain/index.ts";
import { Area, rowList } from "../database.ts";

export interface RollupSlot extends RollupCount {
  /** When it began, in seconds since the epoch. */
  readonly slot: number;
}

const KEY = { step_seconds: "bigint", slot: "bigint", source: "text", outcome: "text", bucket: "bigint" } as const;
const COLUMNS = { ...KEY, count: "bigint" } as const;

/** The outcomes of callbacks, counted by time; see `OVERVIEW_RANGES`. */
export class Rollups extends Area {
  /**
   * Adds to the counts of the periods that hold this moment, all of them or none. The statement's text is the same for any
   * number of counts. All processes add in one order, so that no two of them wait for each other's rows.
   */
  async add(at: Date, counts: readonly RollupCount[]): Promise<void> {
    if (counts.length === 0) return;
    const rows = Object.values(OVERVIEW_RANGES).flatMap(({ stepSeconds }) =>
      counts.map((count) => ({ step_seconds: stepSeconds, slot: periodStart(at, stepSeconds), ...count })),
    );
    // Without a condition SQLite would take ON for the one of a join.
    await this.write`INSERT INTO oncehook_rollups (step_seconds, slot, source, outcome, bucket, count)
      SELECT step_seconds, slot, source, outcome, bucket, count FROM ${rowList(this.database.dialect, COLUMNS, rows)} AS given
      WHERE true ORDER BY 1, 2, 3, 4, 5
      ON CONFLICT (step_seconds, slot, source, outcome, bucket)
      DO UPDATE SET count = oncehook_rollups.count + excluded.count`;
  }

  /** The counts of a range, in its periods, from the one that begins at `from` (seconds since the epoch) on. */
  list(range: OverviewRange, from: number): Promise<readonly RollupSlot[]> {
    return this.read`SELECT slot, source, outcome, bucket, count FROM oncehook_rollups
      WHERE step_seconds = ${OVERVIEW_RANGES[range].stepSeconds} AND slot >= ${from}`;
  }

  /** Those of one source. */
  ofSource(range: OverviewRange, from: number, source: string): Promise<readonly RollupSlot[]> {
    return this.read`SELECT slot, source, outcome, bucket, count FROM oncehook_rollups
      WHERE step_seconds = ${OVERVIEW_RANGES[range].stepSeconds} AND slot >= ${from} AND source = ${source}`;
  }
}
