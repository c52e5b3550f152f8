import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { HeardExtent, HeardLimits, HeardStore, NewHeard, StoredHeard } from "../heard-store.ts";
import { writeSetting } from "../migrations/check-stamp.ts";
import type { StoredInteger, StoredTime } from "../tables.ts";
import type { Access } from "./access.ts";
import { isoTime } from "./rows.ts";

const TABLE = "oncehook_heard";
const SETTINGS = "oncehook_settings";
const LOG = "heard_log";
const SWEPT_TO = "heard_swept_to";
const STEP = 1_000;
/** Any fixed number: all processes of this service on one database take the same advisory lock. */
const APPEND_LOCK = 7_140_231_902;

/** The requests of `HeardStore`, in SQL that both databases speak. */
export function heardQueries(access: Access): HeardStore {
  return {
    append: (requests) => append(access, requests),
    after: (id, most) => after(access, id, most),
    extent: () => extent(access),
    idBefore: (since) => newest(access, ({ receivedAt }) => receivedAt < since.toISOString()),
    sweep: (limits) => sweep(access, limits),
    clear: () => clear(access),
  };
}

/**
 * PostgreSQL hands out ids before it commits, so that of two processes the later id may be visible first, and whoever has
 * read it would never look for the earlier one. With the lock, which is held until the commit is visible, ids are handed
 * out and become visible one transaction after the other. SQLite has one writer at a time anyway.
 */
async function append({ dialect, transact }: Access, requests: readonly NewHeard[]): Promise<void> {
  if (requests.length === 0) return;
  await transact(async (query) => {
    if (dialect === "postgres") await sql`SELECT pg_advisory_xact_lock(${APPEND_LOCK})`.execute(query);
    for (const { requestId, receivedAt, sealed } of requests) {
      await query
        .insertInto(TABLE)
        .values({
          request_id: requestId,
          received_at: receivedAt.toISOString(),
          bytes: sealed.length,
          sealed_request: sealed,
        })
        .onConflict((conflict) => conflict.column("request_id").doNothing())
        .execute();
    }
  });
}

async function after(
  { read }: Access,
  id: number,
  most: { readonly rows: number; readonly bytes: number },
): Promise<StoredHeard[]> {
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
    sealed: row.sealed_request,
  }));
}

async function extent(access: Access): Promise<HeardExtent> {
  const newestId = await newest(access, () => true);
  const rows = await access.read
    .selectFrom(SETTINGS)
    .select(["name", "value"])
    .where("name", "in", [LOG, SWEPT_TO])
    .execute();
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  const log = settings.get(LOG);
  if (log !== undefined) return { log, newestId, sweptTo: Number(settings.get(SWEPT_TO) ?? 0) };
  const named = { name: LOG, value: randomBytes(8).toString("hex") };
  // Of two processes that name it at once the first one wins, and both read that name.
  await access.write
    .insertInto(SETTINGS)
    .values(named)
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return extent(access);
}

interface Measured {
  readonly id: number;
  readonly bytes: number;
  readonly receivedAt: string;
}

/** The id of the newest request that is meant, looked for from the newest one on; 0 where there is none. */
async function newest({ read }: Access, isMeant: (row: Measured) => boolean): Promise<number> {
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const { rows } = await sql<{ id: StoredInteger; bytes: number; received_at: StoredTime }>`
      SELECT id, bytes, received_at FROM oncehook_heard WHERE id < ${below} ORDER BY id DESC
      LIMIT ${below === Number.MAX_SAFE_INTEGER ? 1 : STEP}`.execute(read);
    for (const { id, bytes, received_at } of rows) {
      below = Number(id);
      if (isMeant({ id: below, bytes, receivedAt: isoTime(received_at) })) return below;
    }
    if (rows.length === 0) return 0;
  }
}

/** The newest one stays, whatever its age: on SQLite its id would be handed out again. */
async function sweep(access: Access, limits: HeardLimits): Promise<number> {
  const total = { rows: 0, bytes: 0 };
  const last = await newest(access, ({ bytes, receivedAt }) => {
    total.rows += 1;
    total.bytes += bytes;
    if (total.rows === 1) return false;
    const isPast = total.rows > limits.rows || total.bytes > limits.bytes;
    return isPast || receivedAt < limits.since.toISOString();
  });
  if (last === 0) return 0;
  // Said before it is done, so that nobody misses requests without being told.
  await writeSetting(access.write, SWEPT_TO, String(last));
  return deleteTo(access, last);
}

async function clear(access: Access): Promise<number> {
  const last = await newest(access, () => true);
  const named = await access.read.selectFrom(SETTINGS).select("name").where("name", "=", LOG).execute();
  if (named.length > 0) {
    await access.write.deleteFrom(SETTINGS).where("name", "in", [LOG, SWEPT_TO]).execute();
  }
  return last === 0 ? 0 : deleteTo(access, last);
}

/** In steps, so that no callback waits long for the writer. */
async function deleteTo({ read, write }: Access, last: number): Promise<number> {
  for (let deleted = 0; ; ) {
    const { rows } = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_heard WHERE id <= ${last}
      ORDER BY id LIMIT 1 OFFSET ${STEP - 1}`.execute(read);
    const end = Number(rows[0]?.id ?? last);
    const done = await write.deleteFrom(TABLE).where("id", "<=", end).executeTakeFirst();
    deleted += Number(done.numDeletedRows);
    if (end === last) return deleted;
  }
}
