import type { BulkReplayStore, FailureFilter, Page, StoredFailure } from "../store.ts";
import type { Access } from "./access.ts";
import { toFailure } from "./rows.ts";

const TABLE = "oncehook_failures";

/** Newest first. A filter is held against the index alone; only the rows of the page itself are read. */
export async function listFailures(
  access: Access,
  page: Page,
  filter: FailureFilter,
): Promise<StoredFailure[]> {
  const { read } = access;
  if (Object.values(filter).every((value) => value === undefined)) {
    let query = read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
    if (page.before !== undefined) query = query.where("id", "<", page.before);
    return (await query.execute()).map(toFailure);
  }
  const found = await Promise.all(
    statesOf(filter).map((state) => {
      const query = matching(access, state, filter).select("id").orderBy("id", "desc").limit(page.limit);
      return (page.before === undefined ? query : query.where("id", "<", page.before)).execute();
    }),
  );
  const ids = found
    .flat()
    .map(({ id }) => Number(id))
    .sort((one, other) => other - one)
    .slice(0, page.limit);
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom(TABLE)
    .selectAll()
    .where("id", "in", ids)
    .orderBy("id", "desc")
    .execute();
  return rows.map(toFailure);
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
          .select(["id", "source", "event_id"])
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
      .map((row) => ({ id: Number(row.id), source: row.source, eventId: row.event_id }))
      .sort((one, other) => one.id - other.id)
      .slice(0, limit);
  };

/** The index begins with the state: without one in the filter it is walked once for each. */
function statesOf({ state }: FailureFilter): readonly StoredFailure["state"][] {
  return state === undefined ? ["waiting", "exhausted"] : [state];
}

function matching({ read }: Access, state: StoredFailure["state"], filter: FailureFilter) {
  const { source, eventType, code } = filter;
  let query = read.selectFrom(TABLE).where("state", "=", state);
  if (source !== undefined) query = query.where("source", "=", source);
  if (eventType !== undefined) query = query.where("event_type", "=", eventType);
  if (code !== undefined) query = query.where("code", "=", code);
  return query;
}
