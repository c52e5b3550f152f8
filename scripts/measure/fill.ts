import { execute } from "../../test/support/execute.ts";
import type { Target } from "../../test/support/open-target.ts";

/** All of them are younger than LOG_RETENTION_DAYS, or the first start would delete them. */
export const SPREAD_SECONDS = 29 * 86_400;
const ROWS_AT_ONCE = 20_000;

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** A common table expression `g(n)` with the numbers of the stretch. */
  readonly numbers: string;
  /** The time of row `n`. */
  readonly time: string;
  readonly filler: string;
  readonly noBytes: string;
}

/**
 * Of the callbacks one in fifty is refused, one in a thousand fails, one in ten is a duplicate; bodies are of about a
 * kilobyte. Each success has its record and a notification that was delivered. One in a hundred left a failure behind.
 */
export async function fill(target: Target, rows: number): Promise<void> {
  const isSqlite = target.dialect === "sqlite";
  for (let from = 1; from <= rows; from += ROWS_AT_ONCE) {
    const to = Math.min(rows, from + ROWS_AT_ONCE - 1);
    const stretch = isSqlite ? onSqlite(from, to, rows) : onPostgres(from, to, rows);
    for (const statement of statementsFor(stretch)) await execute(target, statement);
  }
  // As the server does by itself in time.
  if (!isSqlite) await execute(target, "VACUUM ANALYZE");
}

/** Failures of nine causes, of which one has nine in ten of them. */
export async function fillFailures(target: Target, rows: number): Promise<void> {
  const isSqlite = target.dialect === "sqlite";
  for (let from = 1; from <= rows; from += ROWS_AT_ONCE) {
    const to = Math.min(rows, from + ROWS_AT_ONCE - 1);
    const { numbers, time, noBytes } = isSqlite ? onSqlite(from, to, rows) : onPostgres(from, to, rows);
    await execute(
      target,
      `${numbers} INSERT INTO oncehook_failures (source, event_id, event_type, version, state, attempts, retries_done, code,
        error, encrypted_body, body_sha256, first_failed_at, last_failed_at, next_attempt_at, problem_id)
      SELECT 'platform', 'many_' || n, 'webhook_message', 'v1', CASE WHEN n % 7 = 0 THEN 'rejected' ELSE 'exhausted' END, 6,
        5, 'handler_failed', 'TypeError: no customer ' || n, ${noBytes}, 'a', ${time}, ${time}, NULL,
        CASE WHEN n % 10 = 0 THEN '00000000000' || ((n / 10) % 8) ELSE 'aaaaaaaaaaaa' END FROM g`,
    );
  }
  if (!isSqlite) await execute(target, "VACUUM ANALYZE oncehook_failures");
}

function onSqlite(from: number, to: number, rows: number): Stretch {
  return {
    from,
    to,
    numbers: `WITH RECURSIVE g(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM g WHERE n < ${to})`,
    time: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ((${rows} - n) * ${SPREAD_SECONDS} / ${rows}) || ' seconds')`,
    filler: "replace(hex(zeroblob(400)), '00', 'ab')",
    noBytes: "x''",
  };
}

function onPostgres(from: number, to: number, rows: number): Stretch {
  return {
    from,
    to,
    numbers: `WITH g AS (SELECT generate_series(${from}, ${to}) AS n)`,
    time: `now() - (${rows} - n) * interval '${SPREAD_SECONDS / rows} seconds'`,
    filler: "repeat('ab', 400)",
    noBytes: "'\\x'::bytea",
  };
}

function statementsFor(stretch: Stretch): string[] {
  const { from, to, numbers, time, noBytes } = stretch;
  const successes = `oncehook_callbacks WHERE id >= ${from} AND id <= ${to} AND with_record = 1`;
  return [
    callbacks(stretch),
    `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, result, created_at,
      processed_at, callback_id) SELECT source, event_id, event_type, 'v1', 'completed', 'a', '{}', received_at,
      received_at, id FROM ${successes}`,
    `INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at, fanned_out_at)
      SELECT source, event_id, 0, 'order.paid', '{"order_id":"1"}', received_at, received_at FROM ${successes}`,
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, delivered_at)
      SELECT id, 'webhook', CASE WHEN id % 1000 = 9 THEN 'dead' ELSE 'delivered' END, 1, fanned_out_at
      FROM oncehook_notifications WHERE id > (SELECT coalesce(max(notification_id), 0) FROM oncehook_deliveries)`,
    `${numbers} INSERT INTO oncehook_failures (source, event_id, event_type, version, state, attempts, retries_done, code,
      error, encrypted_body, body_sha256, first_failed_at, last_failed_at, next_attempt_at) SELECT 'platform', 'failed_' || n,
      CASE WHEN n % 3 = 0 THEN 'payment_notify' ELSE 'webhook_message' END, 'v1', 'exhausted', 6, 5, 'handler_failed',
      'Error: the warehouse is closed', ${noBytes}, 'a', ${time}, ${time}, NULL FROM g WHERE n % 100 = 7`,
    `${numbers} INSERT INTO oncehook_attempts (source, event_id, started_at, triggered_by, outcome, error, duration_ms)
      SELECT 'platform', 'failed_' || n, ${time}, 'retry', 'handler_failed', 'Error: the warehouse is closed', 3.5
      FROM g WHERE n % 20 = 7`,
    `${numbers} INSERT INTO oncehook_audit (at, actor, role, remote_address, action, target, detail, outcome)
      SELECT ${time}, 'ada@example.com', 'operator', '192.0.2.1', 'failure.replay', 'platform/failed_' || n, NULL, 'done'
      FROM g WHERE n % 100 = 7`,
  ];
}

function callbacks({ numbers, time, filler }: Stretch): string {
  const outcome = `CASE WHEN n % 1000 = 7 THEN 'handler_failed' WHEN n % 50 = 3 THEN 'signature_mismatch'
    WHEN n % 10 = 1 THEN 'already_processed' ELSE 'success' END`;
  const eventId = "'evt_' || (n - CASE WHEN n % 10 = 1 THEN 1 ELSE 0 END)";
  const status = "CASE WHEN n % 1000 = 7 THEN 500 WHEN n % 50 = 3 THEN 401 ELSE 200 END";
  return `${numbers} INSERT INTO oncehook_callbacks (request_id, received_at, source, event_id, event_type, method, url,
    remote_address, request_headers, request_body, outcome, response_status, response_body, processing_ms, with_record)
    SELECT 'request-' || n, ${time}, CASE WHEN n % 1000 = 5 THEN 'oauth' ELSE 'platform' END,
    CASE WHEN n % 50 = 3 THEN NULL ELSE ${eventId} END,
    CASE WHEN n % 3 = 0 THEN 'payment_notify' WHEN n % 5000 = 1 THEN 'user_authorized' ELSE 'webhook_message' END,
    'POST', '/api/platform/callback', '192.0.2.' || (n % 200),
    '{"content-type":"application/json","x-github-delivery":"delivery-' || n || '","x-signature":"[masked]"}',
    '{"event_id":"evt_' || n || '","data":{"order_id":"Order-' || n || '","email":"ada-' || n || '@example.com",' ||
      '"note":"' || ${filler} || '"}}',
    ${outcome}, ${status}, '{"status":"success"}', 3.5,
    CASE WHEN ${outcome} = 'success' THEN 1 ELSE 0 END FROM g`;
}
