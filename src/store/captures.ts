import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { isoTime } from "./column-values.ts";
import type { Database } from "./database.ts";
import { writeSetting } from "./migrations/check-stamp.ts";
import type { StoredInteger, StoredTime } from "./tables.ts";
/** A request as it is kept for `oncehook listen`. */
export interface NewCapturedRequest {
  /** One of its own for each request: one that is stored already is not stored again. */
  readonly requestId: string;
  readonly receivedAt: Date;
  /** The whole request, encrypted. */
  readonly encrypted: Uint8Array;
}

export interface CapturedRequest {
  /** Grows with every request; nothing ever becomes visible below an id that was seen. */
  readonly id: number;
  readonly requestId: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly encrypted: Uint8Array;
}

/** What there is to fetch. */
export interface CaptureExtent {
  /** Another name means other requests under the same ids: another database, or one in which nothing was kept for a while. */
  readonly log: string;
  /** 0 where there is none. */
  readonly newestId: number;
  /** Requests up to this id are deleted, or about to be. */
  readonly deletedTo: number;
}

/** What is kept; older requests go. */
export interface CaptureLimits {
  readonly rows: number;
  readonly bytes: number;
  readonly since: Date;
}

/** Captured requests in order of capture; each is stored once. */
export interface CaptureStore {
  /** All of them or none. */
  append(requests: readonly NewCapturedRequest[]): Promise<void>;
  /** The next ones after an id: as many as fit into the bytes, but one at least where there is one. */
  after(id: number, most: { readonly rows: number; readonly bytes: number }): Promise<CapturedRequest[]>;
  extent(): Promise<CaptureExtent>;
  /** The id after which come the requests that were received since then. */
  idBefore(since: Date): Promise<number>;
  /** Deletes what is past the limits. @returns how many */
  sweep(limits: CaptureLimits): Promise<number>;
  /** Deletes all of it, and forgets the log's name. @returns how many */
  clear(): Promise<number>;
}

const TABLE = "oncehook_heard";
const SETTINGS = "oncehook_settings";
const LOG = "heard_log";
const SWEPT_TO = "heard_swept_to";
const STEP = 1_000;
/** Any fixed number: all processes of this service on one database take the same advisory lock. */
const APPEND_LOCK = 7_140_231_902;

/** The requests of `CaptureStore`, in SQL that both databases speak. */
export function captureQueries(database: Database): CaptureStore {
  return {
    append: (requests) => append(database, requests),
    after: (id, most) => after(database, id, most),
    extent: () => extent(database),
    idBefore: (since) => newest(database, ({ receivedAt }) => receivedAt < since.toISOString()),
    sweep: (limits) => sweep(database, limits),
    clear: () => clear(database),
  };
}

/**
 * PostgreSQL hands out ids before it commits, so that of two processes the later id may be visible first, and whoever has
 * read it would never look for the earlier one. With the lock, which is held until the commit is visible, ids are handed
 * out and become visible one transaction after the other. SQLite has one writer at a time anyway.
 */
async function append(
  { dialect, transact }: Database,
  requests: readonly NewCapturedRequest[],
): Promise<void> {
  if (requests.length === 0) return;
  await transact(async (query) => {
    if (dialect === "postgres") await sql`SELECT pg_advisory_xact_lock(${APPEND_LOCK})`.execute(query);
    for (const { requestId, receivedAt, encrypted } of requests) {
      await query
        .insertInto(TABLE)
        .values({
          request_id: requestId,
          received_at: receivedAt.toISOString(),
          bytes: encrypted.length,
          sealed_request: encrypted,
        })
        .onConflict((conflict) => conflict.column("request_id").doNothing())
        .execute();
    }
  });
}

async function after(
  { read }: Database,
  id: number,
  most: { readonly rows: number; readonly bytes: number },
): Promise<CapturedRequest[]> {
  const next = await read
    .selectFrom(TABLE)
    .select(["id", "bytes"])
    .where("id", ">", id)
    .orderBy("id")
    .limit(most.rows)
    .execute();
  let bytes = 0;
  const fitting = next.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= most.bytes;
  });
  const last = fitting.at(-1);
  if (last === undefined) return [];
  const rows = await read
    .selectFrom(TABLE)
    .select(["id", "request_id", "received_at", "sealed_request"])
    .where("id", ">", id)
    .where("id", "<=", last.id)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: Number(row.id),
    requestId: row.request_id,
    receivedAt: isoTime(row.received_at),
    encrypted: row.sealed_request,
  }));
}

async function extent(database: Database): Promise<CaptureExtent> {
  const newestId = await newest(database, () => true);
  const rows = await database.read
    .selectFrom(SETTINGS)
    .select(["name", "value"])
    .where("name", "in", [LOG, SWEPT_TO])
    .execute();
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  const log = settings.get(LOG);
  if (log !== undefined) return { log, newestId, deletedTo: Number(settings.get(SWEPT_TO) ?? 0) };
  const named = { name: LOG, value: randomBytes(8).toString("hex") };
  // Of two processes that name it at once the first one wins, and both read that name.
  await database.write
    .insertInto(SETTINGS)
    .values(named)
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return extent(database);
}

interface Measured {
  readonly id: number;
  readonly bytes: number;
  readonly receivedAt: string;
}

/** The id of the newest request that is meant, looked for from the newest one on; 0 where there is none. */
async function newest({ read }: Database, matches: (row: Measured) => boolean): Promise<number> {
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const { rows } = await sql<{ id: StoredInteger; bytes: number; received_at: StoredTime }>`
      SELECT id, bytes, received_at FROM oncehook_heard WHERE id < ${below} ORDER BY id DESC
      LIMIT ${below === Number.MAX_SAFE_INTEGER ? 1 : STEP}`.execute(read);
    for (const { id, bytes, received_at } of rows) {
      below = Number(id);
      if (matches({ id: below, bytes, receivedAt: isoTime(received_at) })) return below;
    }
    if (rows.length === 0) return 0;
  }
}

/** The newest one stays, whatever its age: on SQLite its id would be handed out again. */
async function sweep(database: Database, limits: CaptureLimits): Promise<number> {
  const total = { rows: 0, bytes: 0 };
  const last = await newest(database, ({ bytes, receivedAt }) => {
    total.rows += 1;
    total.bytes += bytes;
    if (total.rows === 1) return false;
    const isPast = total.rows > limits.rows || total.bytes > limits.bytes;
    return isPast || receivedAt < limits.since.toISOString();
  });
  if (last === 0) return 0;
  // Written before the deletion, so that a reader can tell that requests are missing.
  await writeSetting(database.write, SWEPT_TO, String(last));
  return deleteTo(database, last);
}

async function clear(database: Database): Promise<number> {
  const last = await newest(database, () => true);
  const named = await database.read.selectFrom(SETTINGS).select("name").where("name", "=", LOG).execute();
  if (named.length > 0) {
    await database.write.deleteFrom(SETTINGS).where("name", "in", [LOG, SWEPT_TO]).execute();
  }
  return last === 0 ? 0 : deleteTo(database, last);
}

/** In steps, so that no callback waits long for the writer. */
async function deleteTo({ read, write }: Database, last: number): Promise<number> {
  for (let deleted = 0; ; ) {
    const { rows } = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_heard WHERE id <= ${last}
      ORDER BY id LIMIT 1 OFFSET ${STEP - 1}`.execute(read);
    const end = Number(rows[0]?.id ?? last);
    const done = await write.deleteFrom(TABLE).where("id", "<=", end).executeTakeFirst();
    deleted += Number(done.numDeletedRows);
    if (end === last) return deleted;
  }
}
