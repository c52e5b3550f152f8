import { type RawBuilder, sql } from "kysely";
import { type EventKey, type JsonObject, keySourceOf, keyText, withoutHandler } from "../../domain/index.ts";
import { Area, type Database, equal, insert, rowList, run, select } from "../database.ts";
import { type NewAcceptedEvent, UNRUN } from "./failures.ts";
import { indexCallbacks, type StoredRecord } from "./records.ts";
import { ErasedMeanwhile, isLatestErasure } from "./settings.ts";

/** A row of the table `events`. Those of earlier versions have no `timestamp`, `headers` and `version`. */
export interface StoredEvent {
  readonly source: string;
  readonly id: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly timestamp?: number | string | null;
  readonly headers?: string | null;
  readonly version?: string | null;
}

export interface StoredType {
  /** Of the key under which the handler would run them: `stripe#audit` for one with a name. */
  readonly source: string;
  readonly type: string;
  readonly count: number;
}

/** The place of an event in the order of their arrival. */
export type StoredEventPlace = Pick<StoredEvent, "receivedAt" | "source" | "id">;

/** An event for one of its handlers, whose key it has. */
export interface StoredEventForHandler extends Omit<NewAcceptedEvent, "nextAttemptAt" | "lease"> {
  /** The source of its row in `events`. */
  readonly storedSource: string;
  readonly receivedAt: Date;
}

/** The schema's step that makes `oncehook_backfilled`. */
export const BACKFILL_SCHEMA = 27;

/** Records are kept for a day at the least. One that is so much younger is of a user's handler. */
const STORED_RECORD_MS = 86_400_000;

/** The events of sources that had no handler, until a backfill has handed each of them to its handlers. */
export class StoredEvents extends Area {
  /** Whether any event was ever stored: otherwise a table `events` is the user's. */
  exist(): Promise<boolean> {
    return exist(this.database);
  }

  /** The oldest first, of a source and its tenants. @param after the last one of the page before */
  page(source: string, { since, type, after, limit }: StoredEventsPage): Promise<readonly StoredEvent[]> {
    const ofType = type === undefined ? sql`` : sql`AND type = ${type}`;
    const position = sql`(received_at, source, id)`;
    const further =
      after === undefined ? sql`` : sql`AND ${position} > (${after.receivedAt}, ${after.source}, ${after.id})`;
    return this.read`SELECT * FROM events
      WHERE (source = ${source} OR (source > ${`${source}/`} AND source < ${`${source}0`})) AND received_at >= ${since}
        ${ofType} ${further} ORDER BY received_at, source, id LIMIT ${limit}`;
  }

  /**
   * Stored events that no backfill, delivery or replay has handed to the handlers of a name, or without one.
   * @param hasReplays false for the schema of a version that had no replays
   */
  async waiting(names: readonly (string | undefined)[], { hasReplays = true } = {}): Promise<readonly StoredType[]> {
    if (!(await this.exist())) return [];
    const ofName = (name: string | undefined) => {
      const key = sql`event_id = e.id AND source = e.source || ${keySourceOf({ source: "", name })}`;
      const unreplayed = hasReplays ? sql`AND NOT EXISTS (${replaysOf(key)})` : sql``;
      return this.read<StoredType>`SELECT e.source, e.type, count(*) AS count FROM events AS e
        WHERE NOT EXISTS (SELECT 1 FROM oncehook_backfilled WHERE ${key}) ${unreplayed}
        AND NOT EXISTS (SELECT 1 FROM oncehook_records WHERE ${key} AND source <> e.source) GROUP BY e.source, e.type`;
    };
    const found: StoredType[] = [];
    for (const name of new Set(names))
      for (const { source, ...type } of await ofName(name))
        found.push({ ...type, source: keySourceOf({ source, name }) });
    return found;
  }

  /** Those of these events, by the sources and ids of their rows, that are stored. */
  async among(keys: readonly EventKey[]): Promise<ReadonlySet<string>> {
    if (keys.length === 0 || !(await this.exist())) return new Set();
    const rows = keys.map(({ source, eventId }) => ({ event_id: eventId, source }));
    const given = rowList(this.database.dialect, { event_id: "text", source: "text" }, rows);
    const found = await this.read<EventKey>`SELECT e.source, e.id AS event_id FROM ${given} AS k
      JOIN events AS e ON e.id = k.event_id AND e.source = k.source`;
    return new Set(found.map(keyText));
  }

  async get({ source, eventId }: EventKey): Promise<StoredEvent | undefined> {
    if (!(await this.exist())) return undefined;
    const [event] = await this.read<StoredEvent>`SELECT * FROM events WHERE ${equal({ id: eventId, source })}`;
    return event;
  }

  /** A replay has given it to its handler, too. */
  async isTaken({ source, eventId }: EventKey): Promise<boolean> {
    const key = equal({ eventId, source });
    const rows = await this.read`SELECT 1 FROM oncehook_backfilled WHERE ${key} UNION ALL ${replaysOf(key)}`;
    return rows.length > 0;
  }

  /**
   * Makes a stored event an accepted one, in one transaction: the record of its storing gives way. From then on it is an
   * event like any other, which a delivery or a retry runs once.
   * @param erasures as they were before it was read
   * @returns false where it was taken before, or a delivery or a replay has run it since its handler was there
   * @throws ErasedMeanwhile where it may have been erased since
   */
  async take(event: StoredEventForHandler, now: Date, erasures: string): Promise<boolean> {
    const { storedSource, receivedAt, ...accepted } = event;
    const key = { eventId: event.eventId, source: event.source };
    return this.database.transact(async (query) => {
      if (!(await isLatestErasure(query, this.database, erasures))) throw new ErasedMeanwhile();
      const taken = sql`${insert("oncehook_backfilled", { ...key, takenAt: now })}
        ON CONFLICT (event_id, source) DO NOTHING`;
      if ((await run(query, taken)).changes === 0) return false;
      // A replay that is at work holds it.
      const lock = this.database.dialect === "postgres" ? sql`FOR UPDATE` : sql``;
      const stored = sql`SELECT body_sha256, processed_at FROM oncehook_records WHERE ${equal(key)} ${lock}`;
      const [record] = (await run<Pick<StoredRecord, "bodySha256" | "processedAt">>(query, stored)).rows;
      if ((await run(query, replaysOf(equal(key)))).rows.length > 0) return false;
      if (record !== undefined) {
        if (event.source !== storedSource || !isOfStoring(record, receivedAt)) return false;
        await run(query, indexCallbacks(sql`WHERE ${equal(key)}`));
        await run(query, sql`DELETE FROM oncehook_records WHERE ${equal(key)}`);
      }
      const times = { firstFailedAt: receivedAt, lastFailedAt: now, nextAttemptAt: now };
      const bodySha256 = record?.bodySha256 ?? event.bodySha256;
      const row = { ...accepted, ...UNRUN, ...times, bodySha256 };
      await run(query, sql`${insert("oncehook_failures", row)} ON CONFLICT (event_id, source) DO NOTHING`);
      return true;
    });
  }
}

/** Whether its payload was erased; one that came without data or headers is left out, too. */
export const isErasedRow = ({ data, headers }: StoredEvent): boolean => data === "{}" && headers == null;

const replaysOf = (key: RawBuilder<unknown>) => sql`SELECT 1 FROM oncehook_event_replays WHERE ${key}`;

function isOfStoring({ processedAt }: Pick<StoredRecord, "processedAt">, receivedAt: Date): boolean {
  return Date.parse(processedAt ?? "") - receivedAt.getTime() < STORED_RECORD_MS;
}

async function exist(database: Database): Promise<boolean> {
  const made = sql`SELECT 1 FROM oncehook_handler_migrations WHERE name = ${STORED_EVENTS}`;
  return (await run(database.read, made)).rows.length > 0;
}

/** Notes the stored events that handlers have run, before the records go that tell it. */
export async function noteHandled(database: Database, ofRecords: RawBuilder<unknown>, now: Date): Promise<void> {
  if (!(await exist(database))) return;
  const records = await select<EventKey & Pick<StoredRecord, "processedAt">>(
    database,
    sql`SELECT event_id, source, processed_at FROM oncehook_records ${ofRecords}`,
  );
  const rows = records.map(({ eventId, source }) => ({ event_id: eventId, source, stored: withoutHandler(source) }));
  const given = rowList(database.dialect, { event_id: "text", source: "text", stored: "text" }, rows);
  const found = await select<EventKey & { receivedAt: string; isReplayed: number | boolean }>(
    database,
    sql`SELECT k.event_id, k.source, e.received_at, EXISTS (SELECT 1 FROM oncehook_event_replays AS p
        WHERE p.event_id = k.event_id AND p.source = k.source) AS is_replayed
      FROM ${given} AS k JOIN events AS e ON e.id = k.event_id AND e.source = k.stored`,
  );
  const byKey = new Map(records.map((record) => [keyText(record), record]));
  for (const { eventId, source, receivedAt, isReplayed } of found) {
    const record = byKey.get(keyText({ eventId, source }));
    const isStored = source === withoutHandler(source) && !isReplayed;
    if (record === undefined || (isStored && isOfStoring(record, new Date(receivedAt)))) continue;
    const row = insert("oncehook_backfilled", { eventId, source, takenAt: now });
    await run(database.write, sql`${row} ON CONFLICT (event_id, source) DO NOTHING`);
  }
}

export interface StoredEventsPage {
  readonly since: Date;
  readonly type?: string | undefined;
  readonly after?: StoredEventPlace | undefined;
  readonly limit: number;
}

export const STORED_EVENTS = "built-in-events";

/** The data of an event as its handler gets it. */
export function envelopeOf(event: StoredEvent): JsonObject {
  const { id, type, data, receivedAt, timestamp, headers } = event;
  const seconds = timestamp == null ? Math.floor(Date.parse(receivedAt) / 1_000) : Number(timestamp);
  return {
    event_id: id,
    event_type: type,
    timestamp: seconds,
    data: JSON.parse(data) as JsonObject,
    ...(headers == null ? {} : { headers: JSON.parse(headers) as JsonObject }),
  };
}
