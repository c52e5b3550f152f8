import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { StoredInteger } from "../tables.ts";
import type { Access } from "./access.ts";

const LOOKED_AT = 1_000;
/** A row may take tens of kilobytes, so that fewer of them go in a step than of others. */
const DELETED = 100;

/** Both walks go along the index of these rows alone, and let others have their turn after each step. */
export async function boundRefused(access: Access, mostBytes: number): Promise<number> {
  const newestToGo = await firstBeyond(access, mostBytes);
  if (newestToGo === undefined) return 0;
  // Several processes may be at it; what another one has taken is not waited for.
  const unlocked = sql.raw(access.dialect === "postgres" ? "FOR UPDATE SKIP LOCKED" : "");
  const step = sql`DELETE FROM oncehook_callbacks WHERE id IN (SELECT id FROM oncehook_callbacks
    WHERE refused_bytes IS NOT NULL AND id <= ${newestToGo} ORDER BY id LIMIT ${sql.lit(DELETED)} ${unlocked})`;
  return inSteps(access, step);
}

/** From the newest row on: the id of the first that does not fit any more. */
async function firstBeyond({ read }: Access, mostBytes: number): Promise<StoredInteger | undefined> {
  let bytes = 0;
  for (let below: StoredInteger = Number.MAX_SAFE_INTEGER; ; ) {
    const { rows } = await sql<{ id: StoredInteger; refused_bytes: StoredInteger }>`SELECT id, refused_bytes
      FROM oncehook_callbacks WHERE refused_bytes IS NOT NULL AND id < ${below}
      ORDER BY id DESC LIMIT ${sql.lit(LOOKED_AT)}`.execute(read);
    for (const row of rows) {
      bytes += Number(row.refused_bytes);
      if (bytes > mostBytes) return row.id;
      below = row.id;
    }
    if (rows.length < LOOKED_AT) return undefined;
    await nextTurn();
  }
}

async function inSteps({ write }: Access, step: RawBuilder<unknown>): Promise<number> {
  for (let deleted = 0; ; ) {
    const { numAffectedRows = 0n } = await step.execute(write);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BigInt(DELETED)) return deleted;
    await nextTurn();
  }
}
