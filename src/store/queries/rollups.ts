import { sql } from "kysely";
import { type RollupCount, SPANS, slotOf } from "../../domain/index.ts";
import type { RollupStore } from "../rollup-store.ts";
import type { Access } from "./access.ts";

const TABLE = "oncehook_rollups";
const STEP = 1_000;

/** The requests of `RollupStore`, in SQL that both databases speak. */
export function rollupQueries(access: Access): RollupStore {
  return {
    add: (at, counts) => add(access, at, counts),
    async list(span, from) {
      const rows = await access.read
        .selectFrom(TABLE)
        .select(["slot", "source", "outcome", "bucket", "count"])
        .where("step_seconds", "=", SPANS[span].stepSeconds)
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
async function add({ dialect, write }: Access, at: Date, counts: readonly RollupCount[]): Promise<void> {
  if (counts.length === 0) return;
  const rows = Object.values(SPANS).flatMap(({ stepSeconds }) =>
    counts.map((count) => ({ step_seconds: stepSeconds, slot: slotOf(at, stepSeconds), ...count })),
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
export async function sweepRollups({ read, write }: Access, now: Date): Promise<number> {
  let deleted = 0;
  for (const { stepSeconds, keptSeconds } of Object.values(SPANS)) {
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
