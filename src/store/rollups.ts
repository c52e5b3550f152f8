import { sql } from "kysely";
import type { OverviewRange, RollupCount } from "../domain/index.ts";
import { OVERVIEW_RANGES, periodStart } from "../domain/index.ts";
import type { Database } from "./database.ts";

/** A period and what was counted in it. */
export interface RollupSlot extends RollupCount {
  /** When it began, in seconds since the epoch. */
  readonly slot: number;
}

/** What callbacks came to, counted by time; see `SPANS`. */
export interface RollupStore {
  /** Adds to the counts of the periods that hold this moment, all of them or none. */
  add(at: Date, counts: readonly RollupCount[]): Promise<void>;
  /** The counts of a span, in periods of its length, from the one that begins at `from` (seconds since the epoch) on. */
  list(span: OverviewRange, from: number): Promise<RollupSlot[]>;
}

const TABLE = "oncehook_rollups";
const STEP = 1_000;

/** The requests of `RollupStore`, in SQL that both databases speak. */
export function rollupQueries(database: Database): RollupStore {
  return {
    add: (at, counts) => add(database, at, counts),
    async list(span, from) {
      const rows = await database.read
        .selectFrom(TABLE)
        .select(["slot", "source", "outcome", "bucket", "count"])
        .where("step_seconds", "=", OVERVIEW_RANGES[span].stepSeconds)
        .where("slot", ">=", from)
        .execute();
      return rows.map(({ slot, count, ...others }) => ({
        ...others,
        slot: Number(slot),
        count: Number(count),
      }));
    },
  };
}

/**
 * One statement whose text is the same for any number of counts. The rows are in one order for all processes, so that no two
 * of them wait for each other's.
 */
async function add({ dialect, write }: Database, at: Date, counts: readonly RollupCount[]): Promise<void> {
  if (counts.length === 0) return;
  const rows = Object.values(OVERVIEW_RANGES).flatMap(({ stepSeconds }) =>
    counts.map((count) => ({ step_seconds: stepSeconds, slot: periodStart(at, stepSeconds), ...count })),
  );
  const json = JSON.stringify(rows);
  // Without a condition SQLite would take ON for the one of a join.
  const given =
    dialect === "postgres"
      ? sql`SELECT step_seconds, slot, source, outcome, bucket, count FROM jsonb_to_recordset(${json}::jsonb)
          AS given (step_seconds integer, slot bigint, source text, outcome text, bucket smallint, count bigint)
          ORDER BY 1, 2, 3, 4, 5`
      : sql`SELECT value ->> 'step_seconds', value ->> 'slot', value ->> 'source', value ->> 'outcome',
          value ->> 'bucket', value ->> 'count' FROM json_each(${json}) WHERE true`;
  await sql`INSERT INTO oncehook_rollups (step_seconds, slot, source, outcome, bucket, count) ${given}
    ON CONFLICT (step_seconds, slot, source, outcome, bucket)
    DO UPDATE SET count = oncehook_rollups.count + excluded.count`.execute(write);
}

/** Deletes what no overview shows any more, in steps, so that no callback waits long for the writer. */
export async function sweepRollups({ read, write }: Database, now: Date): Promise<number> {
  let deleted = 0;
  for (const { stepSeconds, keptSeconds } of Object.values(OVERVIEW_RANGES)) {
    const before = Math.floor(now.getTime() / 1_000) - keptSeconds;
    for (;;) {
      const past = await read
        .selectFrom(TABLE)
        .select("slot")
        .where("step_seconds", "=", stepSeconds)
        .where("slot", "<", before)
        .orderBy("slot")
        .limit(1)
        .offset(STEP)
        .executeTakeFirst();
      const done = await write
        .deleteFrom(TABLE)
        .where("step_seconds", "=", stepSeconds)
        .where("slot", "<=", Number(past?.slot ?? before - 1))
        .executeTakeFirst();
      deleted += Number(done.numDeletedRows);
      if (past === undefined) break;
    }
  }
  return deleted;
}
