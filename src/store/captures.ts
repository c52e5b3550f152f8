import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { isoTime } from "./column-values.ts";
import { Area } from "./database.ts";
import { deleteInSteps } from "./retention.ts";
import { writeSetting } from "./settings.ts";
import type { StoredInteger, StoredTime } from "./tables.ts";

/** A request for `oncehook listen`. */
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

const TABLE = "oncehook_captured_requests";
const SETTINGS = "oncehook_settings";
const LOG = "capture_log";
const DELETED_TO = "capture_deleted_to";
const STEP = 1_000;
/** Any fixed number: all processes of this service on one database take the same advisory lock. */
const APPEND_LOCK = 7_140_231_902;

interface Measured {
  readonly id: number;
  readonly bytes: number;
  readonly receivedAt: string;
}

/** Captured requests in order of capture; each is stored once. */
export class Captures extends Area {
  /**
   * Stores all of them or none. PostgreSQL gives ids before it commits: without the lock, of two processes the later id could become
   * visible first, and a reader would miss the earlier one. SQLite has one writer at a time anyway.
   */
  async append(requests: readonly NewCapturedRequest[]): Promise<void> {
    const { dialect, transact } = this.database;
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
            encrypted_request: encrypted,
          })
          .onConflict((conflict) => conflict.column("request_id").doNothing())
          .execute();
      }
    });
  }

  /** The next ones after an id: as many as fit into the bytes, but at least one where there is one. */
  async after(
    id: number,
    most: { readonly rows: number; readonly bytes: number },
  ): Promise<CapturedRequest[]> {
    const next = await this.database.read
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
    const rows = await this.database.read
      .selectFrom(TABLE)
      .select(["id", "request_id", "received_at", "encrypted_request"])
      .where("id", ">", id)
      .where("id", "<=", last.id)
      .orderBy("id")
      .execute();
    return rows.map((row) => ({
      id: Number(row.id),
      requestId: row.request_id,
      receivedAt: isoTime(row.received_at),
      encrypted: row.encrypted_request,
    }));
  }

  async extent(): Promise<CaptureExtent> {
    const newestId = await this.newest(() => true);
    const rows = await this.database.read
      .selectFrom(SETTINGS)
      .select(["name", "value"])
      .where("name", "in", [LOG, DELETED_TO])
      .execute();
    const settings = new Map(rows.map(({ name, value }) => [name, value]));
    const log = settings.get(LOG);
    if (log !== undefined) return { log, newestId, deletedTo: Number(settings.get(DELETED_TO) ?? 0) };
    const named = { name: LOG, value: randomBytes(8).toString("hex") };
    // Of two processes that name it at once the first one wins, and both read that name.
    await this.database.write
      .insertInto(SETTINGS)
      .values(named)
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    return this.extent();
  }

  /** The id after which the requests come that were received since then. */
  idBefore(since: Date): Promise<number> {
    return this.newest(({ receivedAt }) => receivedAt < since.toISOString());
  }

  /** Deletes what exceeds the limits; the newest one stays, or SQLite would give its id again. @returns how many */
  async sweep(limits: CaptureLimits): Promise<number> {
    const total = { rows: 0, bytes: 0 };
    const last = await this.newest(({ bytes, receivedAt }) => {
      total.rows += 1;
      total.bytes += bytes;
      if (total.rows === 1) return false;
      const isPast = total.rows > limits.rows || total.bytes > limits.bytes;
      return isPast || receivedAt < limits.since.toISOString();
    });
    if (last === 0) return 0;
    // Written before the deletion, so that a reader can tell that requests are missing.
    await writeSetting(this.database.write, DELETED_TO, String(last));
    return this.deleteTo(last);
  }

  /** Deletes all of it and the log's name. @returns how many */
  async clear(): Promise<number> {
    const last = await this.newest(() => true);
    const named = await this.database.read
      .selectFrom(SETTINGS)
      .select("name")
      .where("name", "=", LOG)
      .execute();
    if (named.length > 0) {
      await this.database.write.deleteFrom(SETTINGS).where("name", "in", [LOG, DELETED_TO]).execute();
    }
    return last === 0 ? 0 : this.deleteTo(last);
  }

  /** The id of the newest request that matches; 0 where there is none. */
  private async newest(matches: (row: Measured) => boolean): Promise<number> {
    for (let below = Number.MAX_SAFE_INTEGER; ; ) {
      const { rows } = await sql<{ id: StoredInteger; bytes: number; received_at: StoredTime }>`
        SELECT id, bytes, received_at FROM oncehook_captured_requests WHERE id < ${below} ORDER BY id DESC
        LIMIT ${below === Number.MAX_SAFE_INTEGER ? 1 : STEP}`.execute(this.database.read);
      for (const { id, bytes, received_at } of rows) {
        below = Number(id);
        if (matches({ id: below, bytes, receivedAt: isoTime(received_at) })) return below;
      }
      if (rows.length === 0) return 0;
    }
  }

  private deleteTo(last: number): Promise<number> {
    return deleteInSteps(this.database, {
      table: TABLE,
      key: ["id"],
      where: sql`id <= ${last}`,
      orderBy: "id",
    });
  }
}
