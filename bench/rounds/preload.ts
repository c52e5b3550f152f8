import { mkdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { databaseFile } from "../contenders/index.ts";
import { withClient } from "../machine/postgres.ts";

/**
 * Events that Oncehook has handled before, in bulk: record, order, delivered notification and log row, over the last 29
 * days, so that none is old enough to be swept. Ids are spread evenly over all ids, so that new ones fall between them.
 * The tables must be there: the server has made them, and has ended.
 */
export async function preload(folder: string, databaseUrl: string, events: number): Promise<void> {
  if (databaseUrl === "") preloadSqlite(folder, events);
  else await preloadPostgres(databaseUrl, events);
}

const AT_ONCE = 250_000;
const RESULT = `'{"order_id":"order-0123456789abcdef"}'`;
const HEADERS = `'{"host":["bench"],"content-type":["application/json"],"x-event-type":["payment_notify"],"x-signature":["***"],"content-length":["190"]}'`;
const BODY = `'{"event_id":"${"0".repeat(36)}","event_type":"payment_notify","timestamp":1700000000,"data":{"order_id":"order-0123456789abcdef","amount":12.5,"currency":"EUR"}}'`;
const ANSWER = `'{"status":"success","data":{"order_id":"order-0123456789abcdef"}}'`;

/** The statements of one part; `from` names rows with `n`, `event_id` and `at`. */
function inserts(from: string): string[] {
  return [
    `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, result, created_at,
      processed_at, callback_id) SELECT 'platform', event_id, 'payment_notify', 'v1', 'completed', '${"0".repeat(64)}',
      ${RESULT}, at, at, n + 1 FROM ${from}`,
    `INSERT INTO orders (order_id, status, amount, event_id, updated_at)
      SELECT 'order-' || event_id, 'paid', 12.5, event_id, at FROM ${from}`,
    `INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at, fanned_out_at,
      delivered_to) SELECT 'platform', event_id, 1, 'order.paid', ${RESULT}, at, at, 'log' FROM ${from}`,
    `INSERT INTO oncehook_callbacks (request_id, received_at, source, event_id, event_type, method, url, remote_address,
      request_headers, request_body, outcome, response_status, response_body, processing_ms, with_record)
      SELECT event_id, at, 'platform', event_id, 'payment_notify', 'POST', '/api/platform/callback', '127.0.0.1',
      ${HEADERS}, ${BODY}, 'success', 200, ${ANSWER}, 1.5, 1 FROM ${from}`,
  ];
}

/** Steps of this many ids and seconds bring the last event to the end of both. */
function steps(events: number): { id: number; seconds: number } {
  return { id: (0xffffffff - 1) / events, seconds: (29 * 86_400) / events };
}

function preloadSqlite(folder: string, events: number): void {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(databaseFile(folder));
  const { id, seconds } = steps(events);
  // Nothing is at stake yet, and the file is whole once it is closed.
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; PRAGMA temp_store = MEMORY");
  for (let first = 0; first < events; first += AT_ONCE) {
    const last = Math.min(events, first + AT_ONCE);
    const rows = `(WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last - 1})
      SELECT n, printf('%08x-0000-4000-8000-%012x', CAST(n * ${id} AS integer), n) AS event_id,
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ((${events} - n) * ${seconds}) || ' seconds') AS at FROM numbers)`;
    database.exec("BEGIN");
    for (const statement of inserts(rows)) database.exec(statement);
    database.exec("COMMIT");
  }
  database.exec("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

async function preloadPostgres(url: string, events: number): Promise<void> {
  const { id, seconds } = steps(events);
  await withClient(url, async (client) => {
    for (let first = 0; first < events; first += AT_ONCE) {
      const last = Math.min(events, first + AT_ONCE);
      const rows = `(SELECT n, lpad(to_hex((n * ${id})::bigint), 8, '0') || '-0000-4000-8000-' || lpad(to_hex(n), 12, '0')
        AS event_id, now() - (${events} - n) * ${seconds} * interval '1 second' AS at
        FROM generate_series(${first}, ${last - 1}) AS n ORDER BY n) AS events`;
      for (const statement of inserts(rows)) await client.query(statement);
    }
    await client.query("VACUUM (ANALYZE)");
    await client.query("CHECKPOINT");
  });
}
