import type { Found, Search } from "../page.ts";
import type { BulkReplayStore, FailureFilter, StoredFailure } from "../store.ts";
import type { StoredInteger } from "../tables.ts";
import type { Access } from "./access.ts";
import { boundedWalk, type Look, type Steps } from "./bounded-walk.ts";
import { toFailure } from "./rows.ts";

const TABLE = "oncehook_failures";

/** Two thousand take about a millisecond or two; where they lie on the disk, more. */
const STEPS: Steps = { first: 256, most: 2_000 };

/** Newest first. A filter is held against the index alone; only the rows of the page itself are read. */
export async function searchFailures(
  access: Access,
  { eventId, ...filter }: FailureFilter & { readonly eventId?: string },
  search: Search,
): Promise<Found<StoredFailure>> {
  if (eventId !== undefined) return ofEvent(access, eventId, filter, search);
  const { rows, next } = await boundedWalk(access.dialect, STEPS, search, lookFor(access, filter));
  if (rows.length === 0) return { rows: [], next };
  const ids = rows.map(({ id }) => id);
  const read = access.read.selectFrom(TABLE).selectAll().where("id", "in", ids);
  return { rows: (await read.orderBy("id", "desc").execute()).map(toFailure), next };
}

/** One for each source at most, by the index of the key. */
async function ofEvent(
  access: Access,
  eventId: string,
  { state, ...filter }: FailureFilter,
  { before = Number.MAX_SAFE_INTEGER, limit }: Search,
): Promise<Found<StoredFailure>> {
  const all = restricted(access, filter).selectAll().where("event_id", "=", eventId).where("id", "<", before);
  const query = state === undefined ? all : all.where("state", "=", state);
  const rows = (await query.orderBy("id", "desc").limit(limit).execute()).map(toFailure);
  return { rows, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
}

/** Each state's own part of the index: the next `step` ids of it, and those among them that the filter means. */
function lookFor(access: Access, filter: FailureFilter): Look<{ id: StoredInteger }> {
  return async (below, step, limit) => {
    const states = statesOf(filter);
    const ends = await Promise.all(states.map((state) => stepEnd(access, state, below, step)));
    // Where one state's rows end the other's go on; both are looked at as far as the one that has come less far.
    const reached = Math.max(...ends.map((end) => end ?? 0)) || undefined;
    const found = await Promise.all(
      states.map((state) =>
        matching(access, state, filter)
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
  { read }: Access,
  state: StoredFailure["state"],
  below: number,
  step: number,
): Promise<number | undefined> {
  const query = read.selectFrom(TABLE).select("id").where("state", "=", state).where("id", "<", below);
  const row = await query
    .orderBy("id", "desc")
    .limit(1)
    .offset(step - 1)
    .executeTakeFirst();
  return row === undefined ? undefined : Number(row.id);
}

/** How many there are that match, up to the highest id there is. */
export async function countMatching(
  access: Access,
  filter: FailureFilter,
): Promise<{ readonly upToId: number; readonly total: number }> {
  const newest = await access.read
    .selectFrom(TABLE)
    .select("id")
    .where("id", ">", 0)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const upToId = Number(newest?.id ?? 0);
  const counts = await Promise.all(
    statesOf(filter).map((state) =>
      matching(access, state, filter)
        .select((eb) => eb.fn.countAll().as("count"))
        .where("id", "<=", upToId)
        .executeTakeFirst(),
    ),
  );
  return { upToId, total: counts.reduce((sum, row) => sum + Number(row?.count ?? 0), 0) };
}

/**
 * Those that a bulk replay is to try next, by their ids. A failure names the last one that tried it: what a later one has tried the
 * earlier one leaves to it, or the two would give each other the same failures again and again.
 */
export const nextOf =
  (access: Access): BulkReplayStore["next"] =>
  async ({ id, filter, afterId, upToId, begunAt }, limit) => {
    const found = await Promise.all(
      statesOf(filter).map((state) => {
        const query = matching(access, state, filter)
          .select(["id", "source", "event_id", "unclean_ends"])
          .where("id", ">", afterId)
          .where("id", "<=", upToId)
          .where((eb) => eb.or([eb("bulk_replay_id", "is", null), eb("bulk_replay_id", "<", id)]))
          .orderBy("id")
          .limit(limit);
        // SQLite gives the highest id once more where its row is gone, to a failure that came later.
        const isGivenTwice = access.dialect === "sqlite";
        return (isGivenTwice ? query.where("first_failed_at", "<=", begunAt) : query).execute();
      }),
    );
    return found
      .flat()
      .map((row) => ({
        id: Number(row.id),
        source: row.source,
        eventId: row.event_id,
        isSuspect: row.unclean_ends > 0,
      }))
      .sort((one, other) => one.id - other.id)
      .slice(0, limit);
  };

/** The index begins with the state: without one in the filter it is walked once for each. */
function statesOf({ state }: FailureFilter): readonly StoredFailure["state"][] {
  return state === undefined ? ["waiting", "exhausted"] : [state];
}

function matching(access: Access, state: StoredFailure["state"], filter: FailureFilter) {
  return restricted(access, filter).where("state", "=", state);
}

function restricted({ read }: Access, { source, eventType, code }: Omit<FailureFilter, "state">) {
  let query = read.selectFrom(TABLE);
  if (source !== undefined) query = query.where("source", "=", source);
  if (eventType !== undefined) query = query.where("event_type", "=", eventType);
  if (code !== undefined) query = query.where("code", "=", code);
  return query;
}
