import { sql } from "kysely";
import type { CallbackFilter } from "../domain/index.ts";
import { idList, isoTime } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { StoredInteger, StoredTime } from "./tables.ts";

/**
 * How much later than others that came at the same time a row may have got its id, beside the longest run: the wait for its
 * group, the clocks of several processes. It costs a look at so much more of the log at each end.
 */
const SLACK_MS = 120_000;

const POINTS = 32;

/** Ids from the first one up to but not including the second. */
export interface IdRange {
  readonly from: number;
  readonly below: number;
}

/** The ids outside of which no row of these times is; the times themselves are still to be compared. */
export async function idsBetween(
  database: Database,
  { from, to }: Pick<CallbackFilter, "from" | "to">,
  before: number,
): Promise<IdRange> {
  if (from === undefined && to === undefined) return { from: 0, below: before };
  const [all, longestRun] = await Promise.all([allIds(database), longestRunMs(database)]);
  const slack = SLACK_MS + longestRun;
  const below = Math.min(before, all.below);
  const [first, end] = await Promise.all([
    from === undefined
      ? all.from
      : lowerTimeBound(database, from, slack).then((t) => firstIdSince(database, t, all.from, below)),
    to === undefined
      ? below
      : upperTimeBound(database, to, slack).then((t) => firstIdSince(database, t, all.from, below)),
  ]);
  return { from: first, below: end };
}

export async function noteLateCallbacks({ write }: Database, oldest: Date, now: Date): Promise<void> {
  // The same rows are noted again where they could not be stored: one note of them is enough.
  await write
    .insertInto("oncehook_late_callbacks")
    .values({ oldest: oldest.toISOString(), stored_at: now.toISOString() })
    .onConflict((conflict) => conflict.column("oldest").doUpdateSet({ stored_at: now.toISOString() }))
    .execute();
}

/** No row that came before it has an id above one of `from`: late ones that were stored after `from` came no earlier. */
async function lowerTimeBound({ read }: Database, from: string, slack: number): Promise<string> {
  const late = await read
    .selectFrom("oncehook_late_callbacks")
    .select((eb) => eb.fn.min("oldest").as("oldest"))
    .where("stored_at", ">", shifted(from, -slack))
    .executeTakeFirst();
  const oldest = late?.oldest;
  return shifted(oldest && isoTime(oldest) < from ? isoTime(oldest) : from, -slack);
}

/** No row that came since has an id below one from before `to`: late ones of those were stored by then. */
async function upperTimeBound({ read }: Database, to: string, slack: number): Promise<string> {
  const late = await read
    .selectFrom("oncehook_late_callbacks")
    .select((eb) => eb.fn.max("stored_at").as("stored_at"))
    .where("oldest", "<", to)
    .executeTakeFirst();
  const stored = late?.stored_at;
  return shifted(stored && isoTime(stored) > to ? isoTime(stored) : to, slack);
}

function shifted(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

async function allIds({ read }: Database): Promise<IdRange> {
  const ends = await Promise.all(
    (["asc", "desc"] as const).map((order) =>
      read.selectFrom("oncehook_callbacks").select("id").orderBy("id", order).limit(1).executeTakeFirst(),
    ),
  );
  const [first, last] = ends.map((row) => Number(row?.id ?? 0));
  return { from: first ?? 0, below: (last ?? 0) + 1 };
}

/**
 * The first id whose callback came at this time or later, by halving the ids again and again, five times in one question: there
 * is no index by time, which every callback would have to write (decision 0017).
 */
async function firstIdSince(
  { dialect, read }: Database,
  time: string,
  from: number,
  below: number,
): Promise<number> {
  let [low, high] = [from, below];
  while (low < high) {
    const points = pointsBetween(low, high);
    const { rows } = await sql<Probe>`SELECT point.id AS point,
      (SELECT c.id FROM oncehook_callbacks AS c WHERE c.id >= point.id ORDER BY c.id LIMIT 1) AS id,
      (SELECT c.received_at FROM oncehook_callbacks AS c WHERE c.id >= point.id ORDER BY c.id LIMIT 1) AS received_at
      FROM ${idList(dialect, points)} AS point`.execute(read);
    const end = high;
    for (const { point, id, received_at } of rows.toSorted((a, b) => Number(a.point) - Number(b.point))) {
      const isBefore = id !== null && received_at !== null && Number(id) < end && isoTime(received_at) < time;
      if (!isBefore) {
        high = Number(point);
        break;
      }
      low = Number(id) + 1;
    }
  }
  return low;
}

/** A point and the next row from there on. */
interface Probe {
  readonly point: StoredInteger;
  readonly id: StoredInteger | null;
  readonly received_at: StoredTime | null;
}

function pointsBetween(low: number, high: number): readonly number[] {
  const share = (high - low) / POINTS;
  return [...new Set(Array.from({ length: POINTS }, (_, index) => Math.floor(low + index * share)))];
}

const NAME = "longest_run_ms";

/** It only grows: what was written while a run could take longer is still to be found. */
export async function noteLongestRun({ write }: Database, ms: number): Promise<void> {
  await sql`INSERT INTO oncehook_settings (name, value) VALUES (${NAME}, ${String(ms)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    WHERE CAST(excluded.value AS bigint) > CAST(oncehook_settings.value AS bigint)`.execute(write);
}

/** So long after its beginning, in milliseconds, a run may write what bears the time of its beginning. */
export async function longestRunMs({ read }: Database): Promise<number> {
  const row = await read
    .selectFrom("oncehook_settings")
    .select("value")
    .where("name", "=", NAME)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
}
