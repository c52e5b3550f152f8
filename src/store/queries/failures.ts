import type { EventKey } from "../../domain/index.ts";
import type { FailureStore, NewFailure, StoredFailure, WaitingType } from "../store.ts";
import type { Access } from "./access.ts";
import { searchFailures } from "./failure-lists.ts";
import { leaseQueries } from "./lease-failures.ts";
import { recover } from "./recover-failures.ts";
import { isoTime, storableText, toFailure } from "./rows.ts";
import { release, reschedule } from "./settle-failure.ts";

const TABLE = "oncehook_failures";

/** The failures of `FailureStore`, in SQL that both databases speak. */
export function failureQueries(access: Access): FailureStore {
  return {
    async record(failure, now) {
      await record(access, failure, now);
      await removeIfDone(access, failure);
    },
    ...leaseQueries(access),
    recover: (recovery) => recover(access, recovery),
    async reschedule(key, owner, again) {
      await reschedule(access, key, owner, again);
      await removeIfDone(access, key);
    },
    release: (...given) => release(access, ...given),
    remove: (key) => remove(access, key),
    get: (key) => get(access, key),
    search: (filter, search) => searchFailures(access, filter, search),
    list: async (page, filter) =>
      (await searchFailures(access, filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows,
    counts: () => counts(access),
    nextAttemptAt: () => nextAttemptAt(access),
    waitingTypes: () => waitingTypes(access),
  };
}

async function record({ write }: Access, failure: NewFailure, now: Date): Promise<void> {
  const at = now.toISOString();
  const latest = { code: failure.code, error: storableText(failure.error), last_failed_at: at };
  await write
    .insertInto(TABLE)
    .values({
      source: failure.source,
      event_id: failure.eventId,
      event_type: failure.eventType,
      version: failure.version,
      state: failure.nextAttemptAt === null ? "exhausted" : "waiting",
      attempts: 1,
      retries_done: 0,
      sealed_body: failure.sealedBody,
      body_sha256: failure.bodySha256,
      first_failed_at: at,
      next_attempt_at: failure.nextAttemptAt?.toISOString() ?? null,
      ...latest,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["event_id", "source"])
        .doUpdateSet((eb) => ({ ...latest, attempts: eb(`${TABLE}.attempts`, "+", 1) })),
    )
    .execute();
}

/**
 * Another delivery may have succeeded since this attempt rolled back: it deleted the failures that it saw, and nobody would
 * ever come back for this one.
 */
async function removeIfDone({ write }: Access, { source, eventId }: EventKey): Promise<void> {
  await write
    .deleteFrom(TABLE)
    .where("event_id", "=", eventId)
    .where("source", "=", source)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("oncehook_records as r")
          .select("r.id")
          .where("r.event_id", "=", eventId)
          .where("r.source", "=", source)
          .where("r.status", "=", "completed"),
      ),
    )
    .execute();
}

async function remove({ write }: Access, key: EventKey): Promise<boolean> {
  const done = await write
    .deleteFrom(TABLE)
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return Number(done.numDeletedRows) > 0;
}

async function get({ read }: Access, key: EventKey): Promise<StoredFailure | undefined> {
  const row = await read
    .selectFrom(TABLE)
    .selectAll()
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return row === undefined ? undefined : toFailure(row);
}

async function counts({ read }: Access): Promise<Record<StoredFailure["state"], number>> {
  const rows = await read
    .selectFrom(TABLE)
    .select((eb) => ["state", eb.fn.countAll().as("count")])
    .groupBy("state")
    .execute();
  const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
  return { waiting: found.get("waiting") ?? 0, exhausted: found.get("exhausted") ?? 0 };
}

async function nextAttemptAt({ read }: Access): Promise<string | null> {
  const row = await read
    .selectFrom(TABLE)
    .select("next_attempt_at")
    .where("state", "=", "waiting")
    .where("next_attempt_at", "is not", null)
    .orderBy("next_attempt_at")
    .limit(1)
    .executeTakeFirst();
  return row?.next_attempt_at == null ? null : isoTime(row.next_attempt_at);
}

async function waitingTypes({ read }: Access): Promise<WaitingType[]> {
  const rows = await read
    .selectFrom(TABLE)
    .select((eb) => ["event_type", "version", eb.fn.countAll().as("count")])
    .where("state", "=", "waiting")
    .groupBy(["event_type", "version"])
    .orderBy("event_type")
    .orderBy("version")
    .execute();
  return rows.map((row) => ({ eventType: row.event_type, version: row.version, count: Number(row.count) }));
}
