import type { Database } from "./database.ts";
import { type FailureFilter, type StoredFailure, toFailure } from "./failures.ts";
import type { SearchPage, SearchResult } from "./paging.ts";
import { boundedSearch, type SearchStep, type StepSizes } from "./paging.ts";
import type { StoredInteger } from "./tables.ts";

const FAILURES = "oncehook_failures";

/** Two thousand take about a millisecond or two; where they lie on the disk, more. */
const STEPS: StepSizes = { first: 256, most: 2_000 };

/** Newest first. A filter is held against the index alone; only the rows of the page itself are read. */
export async function searchFailures(
  database: Database,
  { eventId, ...filter }: FailureFilter & { readonly eventId?: string },
  search: SearchPage,
): Promise<SearchResult<StoredFailure>> {
  if (eventId !== undefined) return failuresOfEvent(database, eventId, filter, search);
  const { rows, next } = await boundedSearch(database.dialect, STEPS, search, searchStep(database, filter));
  if (rows.length === 0) return { rows: [], next };
  const ids = rows.map(({ id }) => id);
  const read = database.read.selectFrom(FAILURES).selectAll().where("id", "in", ids);
  return { rows: (await read.orderBy("id", "desc").execute()).map(toFailure), next };
}

/** One for each source at most, by the index of the key. */
async function failuresOfEvent(
  database: Database,
  eventId: string,
  { state, ...filter }: FailureFilter,
  { before = Number.MAX_SAFE_INTEGER, limit }: SearchPage,
): Promise<SearchResult<StoredFailure>> {
  const all = restricted(database, filter)
    .selectAll()
    .where("event_id", "=", eventId)
    .where("id", "<", before);
  const query = state === undefined ? all : all.where("state", "=", state);
  const rows = (await query.orderBy("id", "desc").limit(limit).execute()).map(toFailure);
  return { rows, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
}

/** Each state's own part of the index: the next `step` ids of it, and those among them that the filter means. */
function searchStep(database: Database, filter: FailureFilter): SearchStep<{ id: StoredInteger }> {
  return async (below, step, limit) => {
    const states = statesOf(filter);
    const ends = await Promise.all(states.map((state) => stepEnd(database, state, below, step)));
    // Where one state's rows end the other's go on; both are looked at as far as the one that has come less far.
    const reached = Math.max(...ends.map((end) => end ?? 0)) || undefined;
    const found = await Promise.all(
      states.map((state) =>
        matching(database, state, filter)
          .select("id")
          .where("id", "<", below)
          .where("id", ">=", reached ?? 0)
          .orderBy("id", "desc")
          .limit(limit)
          .execute(),
      ),
    );
    const rows = found.flat().sort((one, other) => Number(other.id) - Number(one.id));
    return { rows: rows.slice(0, limit), reached };
  };
}

async function stepEnd(
  { read }: Database,
  state: StoredFailure["state"],
  below: number,
  step: number,
): Promise<number | undefined> {
  const query = read.selectFrom(FAILURES).select("id").where("state", "=", state).where("id", "<", below);
  const row = await query
    .orderBy("id", "desc")
    .limit(1)
    .offset(step - 1)
    .executeTakeFirst();
  return row === undefined ? undefined : Number(row.id);
}

/** How many there are that match, up to the highest id there is. */
export async function countMatching(
  database: Database,
  filter: FailureFilter,
): Promise<{ readonly upToId: number; readonly total: number }> {
  const newest = await database.read
    .selectFrom(FAILURES)
    .select("id")
    .where("id", ">", 0)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const upToId = Number(newest?.id ?? 0);
  const counts = await Promise.all(
    statesOf(filter).map((state) =>
      matching(database, state, filter)
        .select((eb) => eb.fn.countAll().as("count"))
        .where("id", "<=", upToId)
        .executeTakeFirst(),
    ),
  );
  return { upToId, total: counts.reduce((sum, row) => sum + Number(row?.count ?? 0), 0) };
}

/** What a bulk replay has left to try. */
interface ReplayRange {
  readonly id: number;
  readonly filter: FailureFilter;
  readonly afterId: number;
  readonly upToId: number;
  /** ISO 8601. */
  readonly startedAt: string;
}

/**
 * Those that a bulk replay is to try next, by their ids. A failure names the last one that tried it: what a later one has tried the
 * earlier one leaves to it, or the two would give each other the same failures again and again.
 */
export const nextFailuresToReplay =
  (database: Database) =>
  async ({ id, filter, afterId, upToId, startedAt }: ReplayRange, limit: number) => {
    const found = await Promise.all(
      statesOf(filter).map((state) => {
        const query = matching(database, state, filter)
          .select(["id", "source", "event_id", "crashes"])
          .where("id", ">", afterId)
          .where("id", "<=", upToId)
          .where((eb) => eb.or([eb("bulk_replay_id", "is", null), eb("bulk_replay_id", "<", id)]))
          .orderBy("id")
          .limit(limit);
        // SQLite gives the highest id once more where its row is gone, to a failure that came later.
        const isGivenTwice = database.dialect === "sqlite";
        return (isGivenTwice ? query.where("first_failed_at", "<=", startedAt) : query).execute();
      }),
    );
    return found
      .flat()
      .map((row) => ({
        id: Number(row.id),
        source: row.source,
        eventId: row.event_id,
        isSuspect: row.crashes > 0,
      }))
      .sort((one, other) => one.id - other.id)
      .slice(0, limit);
  };

/** The index begins with the state: without one in the filter it is walked once for each. */
function statesOf({ state }: FailureFilter): readonly StoredFailure["state"][] {
  return state === undefined ? ["waiting", "exhausted"] : [state];
}

function matching(database: Database, state: StoredFailure["state"], filter: FailureFilter) {
  return restricted(database, filter).where("state", "=", state);
}

function restricted({ read }: Database, { source, eventType, code }: Omit<FailureFilter, "state">) {
  let query = read.selectFrom(FAILURES);
  if (source !== undefined) query = query.where("source", "=", source);
  if (eventType !== undefined) query = query.where("event_type", "=", eventType);
  if (code !== undefined) query = query.where("code", "=", code);
  return query;
}
