import { sql } from "kysely";
import type { CallbackFilter } from "../../domain/index.ts";
import type { StoredInteger, StoredTime } from "../tables.ts";
import type { Access } from "./access.ts";
import { isoTime } from "./rows.ts";

/**
 * How much later than others that came at the same time a row may have got its id: a handler's time limit, the wait for a
 * place, the clocks of several processes. It costs a look at so much more of the log at each end.
 */
const SLACK_MS = 120_000;

/** Ids from the first one up to but not including the second. */
export interface IdRange {
  readonly from: number;
  readonly below: number;
}

/** The ids outside of which no row of these times is; the times themselves are still to be compared. */
export async function idsBetween(
  access: Access,
  { from, to }: Pick<CallbackFilter, "from" | "to">,
  before: number,
): Promise<IdRange> {
  const shifted = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString();
  if (from === undefined && to === undefined) return { from: 0, below: before };
  const all = await allIds(access);
  const below = Math.min(before, all.below);
  return {
    from: from === undefined ? all.from : await firstSince(access, shifted(from, -SLACK_MS), all.from, below),
    below: to === undefined ? below : await firstSince(access, shifted(to, SLACK_MS), all.from, below),
  };
}

async function allIds({ read }: Access): Promise<IdRange> {
  const ends = await Promise.all(
    (["asc", "desc"] as const).map((order) =>
      read.selectFrom("oncehook_callbacks").select("id").orderBy("id", order).limit(1).executeTakeFirst(),
    ),
  );
  const [first, last] = ends.map((row) => Number(row?.id ?? 0));
  return { from: first ?? 0, below: (last ?? 0) + 1 };
}

/**
 * The first id whose callback came at this time or later, by binary search: there is no index by time, which every callback
 * would have to write (decision 0017).
 */
async function firstSince({ read }: Access, time: string, from: number, below: number): Promise<number> {
  let [low, high] = [from, below];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { rows } = await sql<{ id: StoredInteger; received_at: StoredTime }>`SELECT id, received_at
      FROM oncehook_callbacks WHERE id >= ${middle} AND id < ${high} ORDER BY id LIMIT 1`.execute(read);
    const [row] = rows;
    if (row !== undefined && isoTime(row.received_at) < time) low = Number(row.id) + 1;
    else high = middle;
  }
  return low;
}
