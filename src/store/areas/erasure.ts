import { type RawBuilder, sql } from "kysely";
import { type EventKey, type JsonValue, textWithoutValue, withoutValue } from "../../domain/index.ts";
import { Area, assign, equal, idIn, type Query, run, type TableName, type Values } from "../database.ts";
import { isUnleased } from "./lease.ts";

/** A step has fewer rows where those are long: reading it must not hold up callbacks. */
const STEP = { rows: 200, bytes: 256 * 1024 };
const FIRST_STEP_ROWS = 16;
const ERASED_JSON = JSON.stringify({ erased: true });

/** The columns that a search for payloads reads, each table's rows in the order of their ids. */
const SCANNED = {
  originals: sql`id, source, event_id, encrypted_block AS encrypted FROM oncehook_originals`,
  failures: sql`id, source, event_id, encrypted_body AS encrypted FROM oncehook_failures`,
  callbacks: sql`id, source, event_id, event_type, method, url, request_headers, request_body AS text
    FROM oncehook_callbacks`,
  notifications: sql`id, source, event_id, payload AS text FROM oncehook_notifications`,
  captures: sql`id, request_id, encrypted_request AS encrypted FROM oncehook_captured_requests`,
} as const;
export type ScannedTable = keyof typeof SCANNED;

export interface ScannedRow {
  readonly id: number;
  readonly source: string | null;
  readonly eventId: string | null;
  readonly requestId?: string;
  readonly encrypted?: Uint8Array;
  readonly text?: string;
  readonly eventType?: string | null;
  readonly method?: string;
  readonly url?: string;
  /** JSON, masked. */
  readonly requestHeaders?: string;
}

/** Removes payloads, and leaves the records of their events: a late duplicate stays a duplicate. */
export class Erasure extends Area {
  /** Every row, in steps; the reader gives way between two. */
  async *scan(table: ScannedTable): AsyncGenerator<ScannedRow> {
    let last = 0;
    for (let limit = FIRST_STEP_ROWS; ; ) {
      const rows = await this.read<ScannedRow>`SELECT ${SCANNED[table]} WHERE id > ${last}
        ORDER BY id LIMIT ${limit}`;
      yield* rows;
      const newest = rows.at(-1);
      if (newest === undefined || rows.length < limit) return;
      last = newest.id;
      limit = nextLimit(rows);
    }
  }

  /** Rows of the table `events`, of sources that had no handler. */
  async *storedEvents(): AsyncGenerator<{ readonly source: string; readonly id: string; readonly data: string }> {
    let after = sql`('', '')`;
    for (let limit = FIRST_STEP_ROWS; ; ) {
      const rows = await this.read<{ source: string; id: string; data: string }>`SELECT source, id, data FROM events
        WHERE (source, id) > ${after} ORDER BY source, id LIMIT ${limit}`;
      yield* rows;
      const newest = rows.at(-1);
      if (newest === undefined || rows.length < limit) return;
      after = sql`(${newest.source}, ${newest.id})`;
      limit = nextLimit(rows.map(({ data: text }) => ({ text })));
    }
  }

  /** @returns false where the block was changed or deleted meanwhile */
  async replaceOriginals(id: number, before: Uint8Array, after: Uint8Array): Promise<boolean> {
    const { changes } = await this.write`UPDATE oncehook_originals SET encrypted_block = ${after}
      WHERE id = ${id} AND encrypted_block = ${before}`;
    return changes > 0;
  }

  /** Traces of a run: its preparation, the errors of its attempts, and its results where they hold the value. */
  async eraseTraces({ source, eventId }: EventKey, value: string): Promise<void> {
    const key = equal({ eventId, source });
    await this.database.transact(async (query) => {
      await this.awaitReplay(query, key);
      await this.eraseRun(query, key, value);
    });
  }

  /** Its failure, and the traces of its runs. @returns false where a run of it is at work */
  async eraseFailure({ source, eventId }: EventKey, value: string, now: Date): Promise<boolean> {
    const key = equal({ eventId, source });
    return this.database.transact(async (query) => {
      await this.awaitReplay(query, key);
      await run(query, sql`DELETE FROM oncehook_failures WHERE ${key} AND ${isUnleased(now)}`);
      const left = await run(query, sql`SELECT 1 FROM oncehook_failures WHERE ${key}`);
      if (left.rows.length > 0) return false;
      await this.eraseRun(query, key, value);
      return true;
    });
  }

  /** One that is at work holds its record. */
  private async awaitReplay(query: Query, key: RawBuilder<unknown>): Promise<void> {
    if (this.database.dialect === "sqlite") return;
    await run(query, sql`SELECT 1 FROM oncehook_records WHERE ${key} FOR UPDATE`);
  }

  private async eraseRun(query: Query, key: RawBuilder<unknown>, value: string): Promise<void> {
    await run(query, sql`DELETE FROM oncehook_preparations WHERE ${key}`);
    await run(query, sql`DELETE FROM oncehook_recorded_runs WHERE ${key}`);
    await run(query, sql`UPDATE oncehook_attempts SET error = '[erased]' WHERE ${key} AND error IS NOT NULL`);
    await run(query, sql`UPDATE oncehook_unreplayed_events SET error = '[erased]' WHERE ${key}`);
    await eraseResults(query, { table: "oncehook_records", column: "result", key }, value);
    await eraseResults(query, { table: "oncehook_event_replays", column: "earlier_result", key }, value);
  }

  async eraseStoredEvent({ source, eventId }: EventKey): Promise<void> {
    await this.write`UPDATE events SET data = '{}', headers = NULL WHERE ${equal({ id: eventId, source })}`;
  }

  /** The log entries of an event that committed with its record, and the others of it. */
  async callbackIds({ source, eventId }: EventKey): Promise<number[]> {
    const rows = await this.read<{ id: number }>`
      SELECT callback_id AS id FROM oncehook_records WHERE ${equal({ eventId, source })} AND callback_id IS NOT NULL
      UNION SELECT id FROM oncehook_callbacks WHERE with_record = 0 AND ${equal({ eventId, source })}`;
    return rows.map(({ id }) => id);
  }

  /** Of these log entries. */
  async requestIds(ids: readonly number[]): Promise<ReadonlySet<string>> {
    const rows = await this.read<{ requestId: string }>`SELECT request_id FROM oncehook_callbacks
      WHERE ${idIn(this.database.dialect, ids)}`;
    return new Set(rows.map(({ requestId }) => requestId));
  }

  async eraseCallback(id: number, value: string): Promise<void> {
    const [row] = await this.read<{
      url: string;
      requestHeaders: string;
      error: string | null;
      diagnosis: string | null;
      claimedType: string | null;
    }>`
      SELECT url, request_headers, error, diagnosis, CASE WHEN event_id IS NULL THEN event_type END AS claimed_type FROM oncehook_callbacks WHERE id = ${id}`;
    if (row === undefined) return;
    const requestHeaders = JSON.stringify(withoutValue(JSON.parse(row.requestHeaders) as JsonValue, value));
    const values: Values = {
      url: textWithoutValue(row.url, value),
      requestHeaders,
      requestBody: "[erased]",
      responseBody: "[erased]",
      error: row.error === null ? null : "[erased]",
      diagnosis: row.diagnosis === null ? null : textWithoutValue(row.diagnosis, value),
      ...(row.claimedType === null ? {} : { eventType: textWithoutValue(row.claimedType, value) }),
    };
    await this.write`UPDATE oncehook_callbacks SET ${assign(values)} WHERE id = ${id}`;
  }

  /** They stay as deliveries without a payload. */
  async eraseNotifications(ids: readonly number[]): Promise<void> {
    const { dialect, transact } = this.database;
    if (ids.length === 0) return;
    const ofThem = sql`notification_id IN (SELECT id FROM oncehook_notifications WHERE ${idIn(dialect, ids)})`;
    await transact(async (query) => {
      await run(query, sql`UPDATE oncehook_notifications SET payload = ${ERASED_JSON} WHERE ${idIn(dialect, ids)}`);
      await run(query, sql`UPDATE oncehook_deliveries SET error = '[erased]' WHERE error IS NOT NULL AND ${ofThem}`);
    });
  }

  async deleteCaptures(ids: readonly number[]): Promise<void> {
    if (ids.length > 0) await this.remove("oncehook_captured_requests", idIn(this.database.dialect, ids));
  }

  /**
   * Keys of orders that are the value. Late events of them are not known as stale any more.
   * @param stored as it stands behind the handler's type
   */
  async deleteOrderKeys(stored: string): Promise<void> {
    const end = ` ${stored}`;
    const isKey = sql`length(order_key) > ${sql.lit(end.length)}
      AND substr(order_key, length(order_key) - ${sql.lit(end.length - 1)}) = ${end}`;
    await this.remove("oncehook_order_keys", isKey);
  }

  /** Titles of problems are texts of errors. */
  async eraseProblemTitles(value: string): Promise<void> {
    const rows = await this.read<{ title: string }>`SELECT DISTINCT title FROM oncehook_problem_states`;
    for (const { title } of rows) {
      const erased = textWithoutValue(title, value);
      if (erased === title) continue;
      await this.write`UPDATE oncehook_problem_states SET title = ${erased} WHERE title = ${title}`;
    }
  }

  private async remove(table: TableName, where: RawBuilder<unknown>): Promise<void> {
    await this.write`DELETE FROM ${sql.table(table)} WHERE ${where}`;
  }
}

/** As many rows as are likely to have the bytes of a step. */
function nextLimit(rows: readonly Pick<ScannedRow, "encrypted" | "text">[]): number {
  let bytes = 0;
  for (const { encrypted, text } of rows) bytes += (encrypted?.length ?? 0) + (text?.length ?? 0);
  return Math.max(1, Math.min(STEP.rows, rows.length * 2, Math.floor((STEP.bytes * rows.length) / (bytes + 1))));
}

/** Of the rows of one event: its record, or its replays with their earlier results. */
async function eraseResults(
  query: Query,
  { table, column, key }: { readonly table: TableName; readonly column: string; readonly key: RawBuilder<unknown> },
  value: string,
): Promise<void> {
  const [name, result] = [sql.table(table), sql.ref(column)];
  const select = sql`SELECT id, ${result} AS result FROM ${name} WHERE ${key} AND ${result} IS NOT NULL`;
  for (const { id, result: stored } of (await run<{ id: number; result: string }>(query, select)).rows) {
    const erased = JSON.stringify(withoutValue(JSON.parse(stored), value));
    if (erased !== stored) await run(query, sql`UPDATE ${name} SET ${result} = ${erased} WHERE id = ${id}`);
  }
}
