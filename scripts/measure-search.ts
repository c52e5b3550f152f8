/**
 * `npm run measure:search`: how long a search by value takes over HTTP, on both databases, with a million callbacks (`--rows`) in
 * the log, how long its index takes to build, and how many bytes it has beside those of the log. Takes some minutes and some
 * gigabytes in the folder for temporary files. The goals are a p95 under 200 ms, a quarter of the log's bytes, ten seconds
 * for a text that is nowhere, and no callback that takes more than 50 ms beside that search.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { type AdminClient, createAdminClient } from "../src/admin-client/index.ts";
import { type RunningReceiver, start } from "../src/app/index.ts";
import { openStore, temporaryDatabase } from "../src/app/open-store.ts";
import { type Config, loadConfig } from "../src/config/index.ts";
import { DAY_MS } from "../src/domain/index.ts";
import { run } from "../src/store/database.ts";
import type { Store } from "../src/store/index.ts";
import { sql } from "../src/store/index.ts";
import { systemClock } from "../src/system/index.ts";
import { capturedLog } from "../src/testing/captured-log.ts";
import { postCallback } from "../src/testing/post-callback.ts";
import { testEnvironment } from "../src/testing/start-test-receiver.ts";
import { createValueIndexer } from "../src/upkeep/index.ts";
import type { Target } from "../test/support/open-target.ts";
import { fill } from "./measure/fill.ts";
import { head, measureRequests, measureStores } from "./measure/report.ts";

const TOKEN = "measure-search-token";
const SECRET = "measure-search-secret-of-32-bytes";
const [GOAL_MS, GOAL_SHARE, GOAL_WAIT_MS, GOAL_SECONDS] = [200, 0.25, 50, 10];

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    requests: { type: "string", default: "60" },
    store: { type: "string", default: "sqlite,postgres" },
  },
});
const [rows, requests] = [Number(values.rows), Number(values.requests)];

/** Each makes another query of its kind. The kind that is nowhere is measured until its first page, which finds nothing. */
const KINDS: readonly (readonly [name: string, query: () => string])[] = [
  ["exact: an order id of one callback", () => `order-${someRow()}`],
  ["exact: an event id", () => `id:evt_${someRow()}`],
  ["exact: a request id", () => `request-${someRow()}`],
  ["exact: an e-mail", () => `ada-${someRow()}@example.com`],
  ["exact: a delivery id in a header", () => `delivery-${someRow()}`],
  ["exact: a path and its value", () => `data.order_id:order-${someRow()}`],
  ["exact: an order id, in one day", () => `order-${someRow()} since:20d until:19d`],
  ["prefix: how an order id begins", () => `data.order_id:order-${String(someRow()).slice(0, 4)}*`],
  ["exact: a value that is nowhere", () => `data.order_id:nowhere-${someRow()}`],
];

function someRow(): number {
  return 1 + Math.floor(Math.random() * rows);
}

async function measure(dialect: Target["dialect"], server: string | undefined): Promise<boolean> {
  const { url, remove } = await temporaryDatabase(server);
  try {
    const config = loadConfig({
      ...testEnvironment(),
      ...{ ADMIN_TOKEN: TOKEN, SIGNING_SECRET: SECRET, DATABASE_URL: url },
    });
    const { logger } = capturedLog(config);
    await (await start(config, { logger })).stop();
    await fill({ dialect, url }, rows);
    await buildIndex(config);
    const receiver = await start(config, { logger });
    const client = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
    return await measureAll(client, receiver).finally(() => receiver.stop());
  } finally {
    await remove();
  }
}

async function buildIndex(config: Config): Promise<void> {
  const { logger: log } = capturedLog(config);
  const store = await openStore(config, [], systemClock, log);
  let ahead = 0;
  // On PostgreSQL a row counts only once every transaction of its time is over.
  const clock = { ...systemClock, now: () => new Date(Date.now() + ahead) };
  const indexer = createValueIndexer({ store, clock, log, activeCallbacks: () => 0 });
  const startedAt = performance.now();
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  await indexer.round();
  ahead = DAY_MS;
  await indexer.round();
  stalls.disable();
  const seconds = (performance.now() - startedAt) / 1_000;
  const { bytes, rows: covered } = await store.valueIndex.size();
  const logBytes = await bytesOf(store, "oncehook_callbacks");
  const tableBytes = await bytesOf(store, "oncehook_value_blocks");
  const text = [
    `\n${store.dialect}: ${rows} callbacks, ${covered} of them indexed in ${seconds.toFixed(1)} s`,
    `longest stall ${Math.round(stalls.max / 1e6)} ms`,
    `blocks ${megabytes(bytes)}, their table ${megabytes(tableBytes)}, the log ${megabytes(logBytes)}`,
    `${((100 * tableBytes) / logBytes).toFixed(1)} % of the log's bytes`,
  ].join("; ");
  process.stdout.write(`${text}\n\n`);
  await store.close();
  if (tableBytes > GOAL_SHARE * logBytes) process.exitCode = 1;
}

/** With its indexes. */
async function bytesOf({ dialect, database }: Store, table: string): Promise<number> {
  const size =
    dialect === "postgres"
      ? sql`SELECT pg_total_relation_size(${table}) AS bytes`
      : sql`SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = ${table} OR name LIKE ${`%${table}%`}`;
  const { rows: sizes } = await run<{ bytes: number }>(database.read, size);
  return Number(sizes[0]?.bytes);
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

async function measureAll(client: AdminClient, receiver: RunningReceiver): Promise<boolean> {
  head("search");
  let isGoalMet = true;
  for (const [name, query] of KINDS) isGoalMet = (await measureKind(client, name, query)) && isGoalMet;
  return (await measureNowhere(client, receiver)) && isGoalMet;
}

async function measureKind({ search }: AdminClient, name: string, query: () => string): Promise<boolean> {
  const ask = async () => ((await search.find({ q: query(), limit: 20 })).items.length > 0 ? 1 : 0);
  const foundText = (found: number) => `${found}/${requests}`;
  return (await measureRequests({ name, count: requests, ask, foundText })) < GOAL_MS;
}

/** The whole log is read for it, request after request: alone, and while callbacks come one after the other. */
async function measureNowhere({ search }: AdminClient, { publicOrigin }: RunningReceiver): Promise<boolean> {
  const seconds = async () => {
    const startedAt = performance.now();
    for (let cursor: string | undefined; ; ) {
      const page = await search.find({ q: "nowhere at all", cursor });
      if (page.next_cursor === null) return (performance.now() - startedAt) / 1_000;
      cursor = page.next_cursor;
    }
  };
  const alone = await seconds();
  const waits: number[] = [];
  let isOver = false;
  const sending = (async () => {
    for (; !isOver; ) waits.push(await sendCallback(publicOrigin, waits.length));
  })();
  const beside = await seconds();
  isOver = true;
  await sending;
  waits.sort((one, other) => one - other);
  const [usual = 0, longest = 0] = [waits[Math.floor(waits.length / 2)], waits.at(-1)];
  const callbacks = `${waits.length} callbacks took ${usual.toFixed(1)} ms, the longest ${longest.toFixed(1)} ms`;
  process.stdout.write(
    `\ntext that is nowhere: ${alone.toFixed(1)} s alone; ${beside.toFixed(1)} s beside callbacks, of which ${callbacks}\n`,
  );
  return longest < GOAL_WAIT_MS && alone < GOAL_SECONDS;
}

/** @returns how long it took, in milliseconds */
async function sendCallback(origin: string, number: number): Promise<number> {
  const event = {
    ...{ event_id: `measured_${number}`, event_type: "payment_notify", timestamp: Math.floor(Date.now() / 1_000) },
    data: { order_id: "measured", amount: 1 },
  };
  const startedAt = performance.now();
  const body = Buffer.from(JSON.stringify(event));
  const { status } = await postCallback(`${origin}/api/platform/callback`, SECRET, { body });
  if (status !== 200) throw new Error(`the callback got ${status}, expected 200`);
  return performance.now() - startedAt;
}

if (!(await measureStores(values.store, measure))) process.exitCode = 1;
