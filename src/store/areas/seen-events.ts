import { sql } from "kysely";
import { compareKeys, type EventKey, keyText } from "../../domain/index.ts";
import { Area, type Query, run } from "../database.ts";
import type { NewRecord } from "./records.ts";
import { StoredEvents } from "./stored-events.ts";

/** An event that another program handled. */
export interface SeenEvent extends NewRecord {
  readonly processedAt: Date;
}

/** The keys that the database has, as texts of `keyText`. */
export interface KnownKeys {
  readonly records: ReadonlySet<string>;
  /** Accepted, waiting, exhausted and rejected events: none of them may get a record beside it. */
  readonly failures: ReadonlySet<string>;
}

const RESULT = JSON.stringify({ imported: true });

/** The records of events that another program handled, so that their redeliveries are duplicates. */
export class SeenEvents extends Area {
  known(keys: readonly EventKey[]): Promise<KnownKeys> {
    return knownKeys(this.database.read, keys);
  }

  /**
   * Writes the records of some events of one source, in one transaction. A record that is there stays, and beside a
   * failure there is none. An event in the table `events` counts as handed over, so that no backfill runs it.
   * @returns what was there before
   */
  async add(events: readonly SeenEvent[], now: Date): Promise<KnownKeys> {
    const hasStored = await new StoredEvents(this.database).exist();
    // In the order of groups, which insert records too: no two transactions wait for each other.
    const sorted = events.toSorted(compareKeys);
    return this.database.transact(
      async (query) => {
        const known = await knownKeys(query, sorted);
        const failed = new Set(sorted.filter((event) => known.failures.has(keyText(event))).map((key) => key.eventId));
        const added = sorted.filter(({ eventId }) => !failed.has(eventId));
        if (added.length > 0) await run(query, insertRecords(added, now));
        if (hasStored) await markStored(query, added, now);
        return known;
      },
      { mayWait: true },
    );
  }
}

function insertRecords(events: readonly SeenEvent[], now: Date) {
  // Retention goes by `created_at` along the ids: it is the time of the import, whenever the event was handled.
  const rows = events.map(
    ({ source, eventId, eventType, version, bodySha256, processedAt }) =>
      sql`(${source}, ${eventId}, ${eventType}, ${version}, 'completed', ${bodySha256}, ${RESULT}, ${now}, ${processedAt})`,
  );
  return sql`INSERT INTO oncehook_records
    (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at)
    VALUES ${sql.join(rows)} ON CONFLICT (event_id, source) DO NOTHING`;
}

async function markStored(query: Query, events: readonly EventKey[], now: Date): Promise<void> {
  if (events.length === 0) return;
  const stored = sql`SELECT source, id AS event_id FROM events WHERE ${isOneOf("id", events)}`;
  const keys = await keysFrom(query, stored);
  const rows = events.filter((event) => keys.has(keyText(event)));
  if (rows.length === 0) return;
  const values = rows.map(({ source, eventId }) => sql`(${source}, ${eventId}, ${now})`);
  await run(
    query,
    sql`INSERT INTO oncehook_backfilled (source, event_id, taken_at) VALUES ${sql.join(values)}
      ON CONFLICT (event_id, source) DO NOTHING`,
  );
}

async function knownKeys(query: Query, keys: readonly EventKey[]): Promise<KnownKeys> {
  if (keys.length === 0) return { records: new Set(), failures: new Set() };
  const where = isOneOf("event_id", keys);
  return {
    records: await keysFrom(query, sql`SELECT source, event_id FROM oncehook_records WHERE ${where}`),
    failures: await keysFrom(query, sql`SELECT source, event_id FROM oncehook_failures WHERE ${where}`),
  };
}

/** A few keys too many: each id with each source. */
function isOneOf(id: string, keys: readonly EventKey[]) {
  const listOf = (texts: readonly string[]) => sql.join([...new Set(texts)]);
  const ids = listOf(keys.map(({ eventId }) => eventId));
  return sql`${sql.ref(id)} IN (${ids}) AND source IN (${listOf(keys.map(({ source }) => source))})`;
}

async function keysFrom(query: Query, statement: Parameters<typeof run>[1]): Promise<ReadonlySet<string>> {
  const { rows } = await run<EventKey>(query, statement);
  return new Set(rows.map(keyText));
}
