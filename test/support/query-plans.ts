import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Target } from "./databases.ts";
import { databaseFile } from "./open-target.ts";

const ROWS = 3_000;

/** Fills the tables, so that a planner has a reason to use an index. */
export async function seedRows(target: Target): Promise<void> {
  const numbers =
    target.dialect === "sqlite"
      ? `WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < ${ROWS})`
      : `WITH g AS (SELECT generate_series(1, ${ROWS}) AS n)`;
  const time = target.dialect === "sqlite" ? "'2026-01-02T03:04:05.678Z'" : "now() - n * interval '1 minute'";
  const bytes = target.dialect === "sqlite" ? "x'01'" : "'\\x01'::bytea";
  const id = "'seed-' || n";
  const statements = [
    `${numbers} INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
      SELECT 'platform', ${id}, 't', 'v1', 'completed', 'a', ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_callbacks (request_id, received_at, event_id, method, url, remote_address,
      request_headers, request_body, outcome, response_status, response_body, processing_ms, with_record)
      SELECT 'r', ${time}, ${id}, 'POST', '/', 'a', '{}', '{}', 'success', 200, '{}', 1, 0 FROM g`,
    `${numbers} INSERT INTO oncehook_failures (source, event_id, event_type, version, state, attempts, retries_done,
      code, error, encrypted_body, body_sha256, first_failed_at, last_failed_at, next_attempt_at)
      SELECT 'platform', ${id}, 't', 'v1', CASE WHEN n % 50 = 0 THEN 'waiting' ELSE 'exhausted' END, 1, 0,
      'c', 'e', ${bytes}, 'a', ${time}, ${time}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_attempts (source, event_id, started_at, triggered_by, outcome, duration_ms)
      SELECT 'platform', ${id}, ${time}, 'retry', 'success', 1 FROM g`,
    `${numbers} INSERT INTO oncehook_bulk_replays (filter, per_second, created_by, state, total, succeeded, already_handled, failed,
      after_id, up_to_id, started_at, ended_at) SELECT '{}', 1, 'token', CASE WHEN n % 50 = 0 THEN 'running' ELSE 'done' END,
      1, 1, 0, 0, 1, 1, ${time}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_backfills (handler, since, includes_former, per_second, created_by, state, position, counts,
      due_at, started_at, ended_at) SELECT 'stripe', ${time}, 0, 1, 'token', CASE WHEN n % 50 = 0 THEN 'running' ELSE 'done' END,
      '{}', '{}', ${time}, ${time}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_preparations (source, event_id, created_at) SELECT 'platform', ${id}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_notifications (position, source, event_id, topic, payload, created_at,
      fanned_out_at) SELECT 1, 'platform', ${id}, 't', '{}', ${time}, CASE WHEN n % 50 = 0 THEN NULL ELSE ${time} END FROM g`,
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, next_attempt_at)
      SELECT id, 'webhook', CASE WHEN id % 50 = 0 THEN 'waiting' ELSE 'delivered' END, 1, created_at
      FROM oncehook_notifications WHERE event_id LIKE 'seed-%'`,
    `${numbers} INSERT INTO oncehook_redirect_states (state_sha256, expires_at, created_at)
      SELECT ${id}, ${time}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_spent_states (state_sha256, expires_at) SELECT ${id}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_user_tokens (user_id, encrypted_tokens, refresh_at, updated_at)
      SELECT ${id}, ${bytes}, ${time}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_captured_requests (request_id, received_at, bytes, encrypted_request)
      SELECT ${id}, ${time}, 1, ${bytes} FROM g`,
    `${numbers} INSERT INTO oncehook_originals (is_merged, keep_until, newest_at, first_callback_id, last_callback_id, source,
      event_id, encrypted_block) SELECT CASE WHEN n % 100 = 0 THEN 0 ELSE 1 END, ${time}, ${time}, CASE WHEN n % 2 = 0 THEN n END, CASE WHEN n % 2 = 0 THEN n END,
      'platform', CASE WHEN n % 2 = 1 THEN ${id} END, ${bytes} FROM g`,
    `${numbers} INSERT INTO oncehook_credential_uses (method, fingerprint) SELECT 'hmac', ${id} FROM g`,
    `${numbers} INSERT INTO oncehook_tenant_secret_uses (source, tenant, last_used_at)
      SELECT 'source-' || (n % 100), ${id}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_tenant_secrets (source, fingerprint, tenant, seen_at)
      SELECT 'source-' || (n % 100), ${id}, ${id}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_sessions (id_sha256, actor, role, credential_fingerprint, started_at, expires_at)
      SELECT ${id}, 'a', 'viewer', 'f', ${time}, ${time} FROM g`,
    `${numbers} INSERT INTO oncehook_audit (at, actor, remote_address, action)
      SELECT ${time}, 'actor-' || (n % 100), 'a', 'action-' || (n % 100) FROM g`,
    `${numbers} INSERT INTO oncehook_rate_counters (key, points, reset_at_ms) SELECT ${id}, 1, n FROM g`,
  ];
  if (target.dialect === "sqlite") {
    withSqlite(target, (database) => {
      for (const statement of statements) database.exec(statement);
    });
    return;
  }
  await withClient(target, async (client) => {
    for (const statement of statements) await client.query(statement);
    // Counted after it, the rows would be there twice.
    await client.query("SELECT pg_stat_force_next_flush()");
    await client.query("ANALYZE");
  });
}

/** The statements whose plan reads a table from end to end, each with the line of the plan that says so. */
export function fullScans(target: Target, statements: readonly string[]): Promise<string[]> {
  return target.dialect === "sqlite" ? sqliteScans(target, statements) : postgresScans(target, statements);
}

/** Those whose plan sorts what it has found, but for rows of ids that are named one by one. */
export async function sorts(target: Target, statements: readonly string[]): Promise<string[]> {
  const judged = statements.filter((text) => !/ IN \(SELECT value FROM json_each|AS bigint\[\]/.test(text));
  return target.dialect === "sqlite"
    ? withSqlite(target, (database) =>
        judged.filter((text) => sqlitePlan(database, text).some((line) => line.includes("USE TEMP B-TREE"))),
      )
    : withPlans(target, judged, ({ "Node Type": type }) => type === "Sort");
}

/** Those whose plan does not use this index, by this column where one is given. */
export async function without(
  index: string,
  target: Target,
  statements: readonly string[],
  column?: string,
): Promise<string[]> {
  const using =
    target.dialect === "sqlite"
      ? withSqlite(target, (database) =>
          statements.filter((text) =>
            sqlitePlan(database, text).some((line) =>
              line.includes(column === undefined ? `INDEX ${index} ` : `INDEX ${index} (${column}=`),
            ),
          ),
        )
      : await withPlans(
          target,
          statements,
          (node) =>
            node["Index Name"] === index &&
            (column === undefined || node["Index Cond"]?.includes(`(${column} = `) === true),
        );
  return statements.filter((text) => !using.some((one) => one.endsWith(text)));
}

/** Paging without a filter walks from the newest row and stops at its LIMIT; counting by state reads the index. */
function mayWalk(statement: string): boolean {
  return (
    /^select id from oncehook_\w+\s+order by id desc limit \S+$/i.test(statement) ||
    /count\(\*\).* group by state$/is.test(statement)
  );
}

async function sqliteScans(target: Target, statements: readonly string[]): Promise<string[]> {
  return withSqlite(target, (database) =>
    statements.flatMap((statement) => {
      return sqlitePlan(database, statement)
        .filter((line) => /^SCAN (?:oncehook_\w+|c)\b/.test(line) && !mayWalk(statement))
        .filter((line) => !PARTIAL.has(/ INDEX (\w+)/.exec(line)?.[1] ?? ""))
        .map((line) => `${line}: ${statement}`);
    }),
  );
}

function sqlitePlan(database: DatabaseSync, statement: string): string[] {
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all();
  return rows.map((row) => String(row.detail));
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

function postgresScans(target: Target, statements: readonly string[]): Promise<string[]> {
  return withPlans(target, statements, (node, statement) => isFullScan(node) && !mayWalk(statement));
}

/** The statements of whose plans some node is meant. */
async function withPlans(
  target: Target,
  statements: readonly string[],
  isMeant: (node: PlanNode, statement: string) => boolean,
): Promise<string[]> {
  return withClient(target, async (client) => {
    // A prepared statement with a generic plan is what a long-lived connection ends up with, on every version.
    await client.query("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan");
    const found: string[] = [];
    for (const statement of statements) {
      const { text, count } = withDecidingValues(statement);
      const nulls = count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`;
      await client.query(`PREPARE judged AS ${text}`);
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE judged${nulls}`);
      await client.query("DEALLOCATE judged");
      const plan: PlanNode = rows[0]["QUERY PLAN"][0].Plan;
      const meant = nodesOf(plan).filter((node) => isMeant(node, statement));
      found.push(...meant.map((node) => `${node["Node Type"]}: ${statement}`));
    }
    return found;
  });
}

/**
 * The limit and the state decide these plans, and the server knows them: such statements go unnamed, so it plans
 * them with their values. A generic plan would expect a tenth of the table instead of one page.
 */
function withDecidingValues(statement: string): { text: string; count: number } {
  const filled = statement.replace(/\blimit \$\d+/gi, "LIMIT 10").replace(/"state" = \$\d+/g, `"state" = 'waiting'`);
  const numbers = new Map<string, number>();
  const text = filled.replace(/\$\d+/g, (name) => {
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return `$${number}`;
  });
  return { text, count: numbers.size };
}

/** These hold only the rows that are looked for. */
const PARTIAL: ReadonlySet<string> = new Set([
  "oncehook_notifications_fresh",
  "oncehook_deliveries_due",
  "oncehook_deliveries_listed",
  "oncehook_bulk_replays_running",
  "oncehook_backfills_running",
  "oncehook_failures_leased",
  "oncehook_failures_suspect",
  "oncehook_deliveries_leased",
  "oncehook_deliveries_scheduled",
]);

/** An index read without a condition reads every row too, only in another order. */
function isFullScan(node: PlanNode): boolean {
  if (node["Relation Name"]?.startsWith("oncehook_") !== true) return false;
  const type = node["Node Type"];
  if (node["Index Name"] !== undefined && PARTIAL.has(node["Index Name"])) return false;
  return type === "Seq Scan" || (/^Index (?:Only )?Scan$/.test(type) && node["Index Cond"] === undefined);
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function withSqlite<T>(target: Target, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(databaseFile(target));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

export async function withClient<T>(target: Target, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
