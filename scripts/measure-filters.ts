/**
 * `npm run measure:filters`: how long the callback log's filters take over HTTP, on both databases, with a million rows
 * (`--rows`), and for how long a search holds the event loop up. Takes some minutes and some gigabytes in the folder for
 * temporary files. The goal is a p95 under 200 ms for each of them.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { type CallbackFilters, createAdminClient } from "../src/admin-client/index.ts";
import { type Running, start } from "../src/app/index.ts";
import { temporaryDatabase } from "../src/app/temporary-database.ts";
import { loadConfig } from "../src/config/index.ts";
import { capturedLog } from "../src/testing/captured-log.ts";
import { testEnvironment } from "../src/testing/test-environment.ts";
import { execute } from "../test/support/execute.ts";
import type { Target } from "../test/support/open-target.ts";
import { startPostgresProcess } from "../test/support/postgres-process.ts";

const TOKEN = "measure-filters-token";
const GOAL_MS = 200;
/** All of them are younger than LOG_RETENTION_DAYS, or the first start would delete them. */
const SPREAD_SECONDS = 29 * 86_400;
const ROWS_AT_ONCE = 20_000;

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    requests: { type: "string", default: "60" },
    store: { type: "string", default: "sqlite,postgres" },
  },
});
const [rows, requests] = [Number(values.rows), Number(values.requests)];
let isGoalMet = true;

async function measure(dialect: Target["dialect"], server: string | undefined): Promise<void> {
  const { url, remove } = await temporaryDatabase(server);
  try {
    const config = loadConfig({ ...testEnvironment(), ADMIN_TOKEN: TOKEN, DATABASE_URL: url });
    const { logger } = capturedLog(config);
    // The first start makes the schema, the second one serves.
    await (await start(config, { logger })).stop();
    await fill({ dialect, url });
    const receiver = await start(config, { logger });
    await measureFilters(dialect, receiver).finally(() => receiver.stop());
  } finally {
    await remove();
  }
}

/** One in fifty is refused, one in a thousand fails, one in ten is a duplicate; bodies of about a kilobyte. */
async function fill(target: Target): Promise<void> {
  const begun = performance.now();
  const isSqlite = target.dialect === "sqlite";
  const time = isSqlite
    ? `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ((${rows} - n) * ${SPREAD_SECONDS} / ${rows}) || ' seconds')`
    : `now() - (${rows} - n) * interval '${SPREAD_SECONDS / rows} seconds'`;
  const outcome = `CASE WHEN n % 1000 = 7 THEN 'handler_failed' WHEN n % 50 = 3 THEN 'signature_mismatch'
    WHEN n % 10 = 1 THEN 'already_processed' ELSE 'success' END`;
  const eventId = "'evt_' || (n - CASE WHEN n % 10 = 1 THEN 1 ELSE 0 END)";
  const status = "CASE WHEN n % 1000 = 7 THEN 500 WHEN n % 50 = 3 THEN 401 ELSE 200 END";
  const padding = "replace(hex(zeroblob(400)), '00', 'ab')";
  const filler = isSqlite ? padding : "repeat('ab', 400)";
  for (let from = 1; from <= rows; from += ROWS_AT_ONCE) {
    const to = Math.min(rows, from + ROWS_AT_ONCE - 1);
    const numbers = isSqlite
      ? `WITH RECURSIVE g(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM g WHERE n < ${to})`
      : `WITH g AS (SELECT generate_series(${from}, ${to}) AS n)`;
    await execute(
      target,
      `${numbers} INSERT INTO oncehook_callbacks (request_id, received_at, source, event_id, event_type, method, url,
        remote_address, request_headers, request_body, outcome, response_status, response_body, processing_ms, with_record)
        SELECT 'request-' || n, ${time}, CASE WHEN n % 1000 = 5 THEN 'oauth' ELSE 'platform' END,
        CASE WHEN n % 50 = 3 THEN NULL ELSE ${eventId} END,
        CASE WHEN n % 3 = 0 THEN 'payment_notify' WHEN n % 5000 = 1 THEN 'user_authorized' ELSE 'webhook_message' END,
        'POST', '/api/platform/callback', '192.0.2.' || (n % 200),
        '{"content-type":"application/json","x-signature":"[masked]"}',
        '{"event_id":"evt_' || n || '","data":{"order_id":"Order-' || n || '","note":"' || ${filler} || '"}}',
        ${outcome}, ${status}, '{"status":"success"}', 3.5,
        CASE WHEN ${outcome} = 'success' THEN 1 ELSE 0 END FROM g`,
    );
    await execute(
      target,
      `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, result, created_at,
        processed_at, callback_id) SELECT source, event_id, event_type, 'v1', 'completed', 'a', '{}', received_at,
        received_at, id FROM oncehook_callbacks WHERE id >= ${from} AND id <= ${to} AND with_record = 1`,
    );
  }
  // As the server does by itself in time.
  if (!isSqlite) await execute(target, "VACUUM ANALYZE oncehook_callbacks");
  const seconds = Math.round((performance.now() - begun) / 1_000);
  process.stdout.write(`\n${target.dialect}: ${rows} rows, filled in ${seconds} s\n`);
}

const someRow = () => 1 + Math.floor(Math.random() * rows);
const someTime = () => new Date(Date.now() - Math.random() * SPREAD_SECONDS * 1_000);

const FILTERS: readonly (readonly [string, () => CallbackFilters])[] = [
  ["none", () => ({})],
  ["from, to: some hour", () => hourFrom(someTime())],
  ["to: some time", () => ({ to: someTime().toISOString() })],
  ["source that is common", () => ({ source: "platform" })],
  ["source of one in a thousand", () => ({ source: "oauth" })],
  ["source that nothing has", () => ({ source: "nobody" })],
  ["event_type of one in three", () => ({ event_type: "payment_notify" })],
  ["event_type of one in five thousand", () => ({ event_type: "user_authorized" })],
  ["status 401", () => ({ status: 401 })],
  ["status 5xx", () => ({ status: "5xx" })],
  ["status 418, that nothing has", () => ({ status: 418 })],
  ["outcome signature_mismatch", () => ({ outcome: "signature_mismatch" })],
  ["outcome overloaded, that nothing has", () => ({ outcome: "overloaded" })],
  ["outcome already_processed", () => ({ outcome: "already_processed" })],
  ["remote_address", () => ({ remote_address: `192.0.2.${someRow() % 200}` })],
  ["event_id", () => ({ event_id: `evt_${someRow()}` })],
  ["text of every row", () => ({ text: "order-" })],
  ["text of one row", () => ({ text: `order-${someRow()}"` })],
  ["text of one row, in some hour", () => ({ ...hourFrom(someTime()), text: `order-${someRow()}"` })],
  ["text of no row, among the refused", () => ({ status: 401, text: "nowhere" })],
];

function hourFrom(time: Date): CallbackFilters {
  return { from: time.toISOString(), to: new Date(time.getTime() + 3_600_000).toISOString() };
}

async function measureFilters(dialect: string, { adminOrigin }: Running): Promise<void> {
  const client = createAdminClient({ origin: adminOrigin, token: TOKEN });
  const line = (...cells: readonly (string | number)[]) =>
    process.stdout.write(`${cells.map((cell, at) => String(cell).padEnd(at === 0 ? 40 : 12)).join("")}\n`);
  line(dialect, "p50 ms", "p95 ms", "longest", "stall ms", "found");
  for (const [name, filtersOf] of FILTERS) {
    const took: number[] = [];
    let found = 0;
    const stalls = monitorEventLoopDelay({ resolution: 1 });
    stalls.enable();
    let filters = filtersOf();
    let cursor: string | null = null;
    for (let request = 0; request < requests; request += 1) {
      const begun = performance.now();
      const page = await client.callbacks.list({ ...filters, ...(cursor === null ? {} : { cursor }) });
      took.push(performance.now() - begun);
      found += page.items.length;
      // Half of the requests go on where the one before has ended.
      cursor = request % 2 === 0 ? page.next_cursor : null;
      if (cursor === null) filters = filtersOf();
    }
    stalls.disable();
    took.sort((a, b) => a - b);
    const at = (share: number) => Math.round(took[Math.ceil(share * took.length) - 1] ?? 0);
    isGoalMet &&= at(0.95) < GOAL_MS;
    line(name, at(0.5), at(0.95), at(1), Math.round(stalls.max / 1e6), found);
  }
}

for (const dialect of values.store.split(",")) {
  if (dialect === "sqlite") await measure("sqlite", undefined);
  else {
    const { url, stop } = await startPostgresProcess();
    await measure("postgres", url).finally(stop);
  }
}
process.exitCode = isGoalMet ? 0 : 1;
