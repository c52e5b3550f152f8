import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { ADVISORY_LOCKS } from "../advisory-locks.ts";
import { Area, insert, run } from "../database.ts";
import { NEWEST } from "./paging.ts";
import { readSetting, readSettings, writeSetting } from "./settings.ts";

export interface NewCapturedRequest {
  /** One of its own for each request: one that is stored already is not stored again. */
  readonly requestId: string;
  readonly receivedAt: Date;
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

export interface CaptureExtent {
  /** Another name means other requests under the same ids: another database, or one that kept nothing for a while. */
  readonly log: string;
  /** 0 where there is none. */
  readonly newestId: number;
  /** Requests up to this id are deleted, or about to be. */
  readonly deletedTo: number;
}

export interface CaptureLimits {
  readonly rows: number;
  readonly bytes: number;
  readonly since: Date;
}

const LOG = "capture_log";
const DELETED_TO = "capture_deleted_to";
const STEP = 1_000;

type Measured = Pick<CapturedRequest, "id" | "receivedAt"> & { readonly bytes: number };

/** Captured requests in order of capture; each is stored once. */
export class Captures extends Area {
  /**
   * Stores all of them or none. PostgreSQL gives ids before it commits. Without the lock the later id of two processes could
   * appear first, and a reader would miss the earlier one. SQLite has one writer at a time anyway.
   */
  async append(requests: readonly NewCapturedRequest[]): Promise<void> {
    const { dialect, transact } = this.database;
    if (requests.length === 0) return;
    await transact(async (query) => {
      if (dialect === "postgres") await run(query, sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.captures})`);
      for (const { requestId, receivedAt, encrypted } of requests) {
        const row = { requestId, receivedAt, bytes: encrypted.length, encryptedRequest: encrypted };
        await run(query, sql`${insert("oncehook_captured_requests", row)} ON CONFLICT (request_id) DO NOTHING`);
      }
    });
  }

  /** The next ones after an id: as many as fit into the bytes, and at least one. */
  async after(id: number, most: Omit<CaptureLimits, "since">): Promise<readonly CapturedRequest[]> {
    const next = await this.read<Omit<Measured, "receivedAt">>`SELECT id, bytes FROM oncehook_captured_requests
      WHERE id > ${id} ORDER BY id LIMIT ${most.rows}`;
    let bytes = 0;
    const fitting = next.filter((row, index) => {
      bytes += row.bytes;
      return index === 0 || bytes <= most.bytes;
    });
    const last = fitting.at(-1);
    if (last === undefined) return [];
    return this.read`SELECT id, request_id, received_at, encrypted_request AS encrypted FROM oncehook_captured_requests
      WHERE id > ${id} AND id <= ${last.id} ORDER BY id`;
  }

  async extent(): Promise<CaptureExtent> {
    const newestId = await this.newest(() => true);
    const settings = await readSettings(this.database.read);
    const log = settings.get(LOG);
    if (log !== undefined) return { log, newestId, deletedTo: Number(settings.get(DELETED_TO) ?? 0) };
    const named = { name: LOG, value: randomBytes(8).toString("hex") };
    // Of two processes that name it at once the first one wins, and both read that name.
    await this.write`${insert("oncehook_settings", named)} ON CONFLICT (name) DO NOTHING`;
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
    if ((await readSetting(this.database.read, LOG)) !== undefined)
      await this.write`DELETE FROM oncehook_settings WHERE name IN (${LOG}, ${DELETED_TO})`;
    return last === 0 ? 0 : this.deleteTo(last);
  }

  /** The id of the newest request that matches; 0 where there is none. */
  private async newest(matches: (row: Measured) => boolean): Promise<number> {
    for (let below = NEWEST; ; ) {
      const rows = await this.read<Measured>`SELECT id, bytes, received_at FROM oncehook_captured_requests
        WHERE id < ${below} ORDER BY id DESC LIMIT ${below === NEWEST ? 1 : STEP}`;
      for (const row of rows) {
        below = row.id;
        if (matches(row)) return below;
      }
      if (rows.length === 0) return 0;
    }
  }

  private deleteTo(last: number): Promise<number> {
    return this.deleteInSteps("oncehook_captured_requests", sql`id <= ${last}`, "id");
  }
}
