import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { DIALECTS, openTarget, type Target, withDatabase } from "../support/databases.ts";
import { committing, newRecord, within } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";

/** Read once, at the start, and never longer than a few rows. */
const BOOKKEEPING = /oncehook_(schema|own_migrations|settings)/;
const key = { source: "platform", eventId: "e1" };

describe.each(DIALECTS)("query plans on %s", (dialect) => {
  it("use an index for every statement that the service runs", () =>
    withDatabase(dialect, async (target) => {
      const statements = new Set<string>();
      const { store } = await openTarget(target, { onStatement: (statement) => statements.add(statement) });
      await exercise(store);
      await store.close();
      const looked = [...statements].filter(
        (statement) =>
          /oncehook_/.test(statement) &&
          !BOOKKEEPING.test(statement) &&
          /^\s*(with|select|update|delete|insert)/i.test(statement),
      );
      expect(looked.length).toBeGreaterThan(25);
      const plans = await explain(target, looked);
      const scans = plans.filter(({ statement, plan }) => isScan(dialect, statement, plan));
      expect(scans).toEqual([]);
    }));
});

function isScan(dialect: string, statement: string, plan: string): boolean {
  if (dialect === "postgres") return plan.includes("Seq Scan");
  // In SQLite a table is the tree of its ids: reading it in their order, up to a limit, is reading an index.
  const inOrderOfIds = /order by "id" desc limit \?$/.test(statement) && !plan.includes("TEMP B-TREE");
  return /\bSCAN oncehook_\w+\b(?! USING)/.test(plan) && !inOrderOfIds;
}

/** Every operation of the contract, with every filter. */
async function exercise(store: Store): Promise<void> {
  const now = new Date();
  const lease = { owner: "o", now, until: new Date(now.getTime() + 1_000) };
  const scheduled = {
    eventType: "t",
    version: "v1",
    code: "handler_failed",
    error: "e",
    sealedBody: Buffer.of(1),
  } as const;
  await store.once(
    newRecord("e1"),
    async (scope) => {
      await scope.enqueue({ topic: "t", payload: {} });
      return { result: {}, logRow: logRow() };
    },
    committing(),
  );
  await store.find(key, within(1_000));
  await store.failures.record({ ...key, ...scheduled, nextAttemptAt: now }, now);
  await store.failures.leaseDue(lease, 10);
  await store.failures.leaseOne(key, lease);
  for (const kind of ["retry", "replay"] as const) {
    await store.failures.reschedule(key, "o", {
      kind,
      code: "internal",
      error: "e",
      now,
      nextAttemptAt: now,
    });
  }
  await store.failures.release(key, "o");
  await store.failures.get(key);
  for (const page of [{ limit: 5 }, { limit: 5, before: 99 }]) {
    for (const filter of [{}, { state: "waiting" } as const]) await store.failures.list(page, filter);
    for (const filter of [{}, { eventId: "e1" }]) {
      await store.listCallbacks(page, filter);
      await store.listRecords(page, filter);
    }
  }
  await store.failures.counts();
  await store.failures.remove(key);
  await store.preparations.claim(key, lease);
  await store.preparations.save(key, "o", Buffer.of(1));
  await store.preparations.get(key);
  await store.preparations.release(key, "o");
  await store.redirectStates.register("h", now, now);
  await store.redirectStates.isExpected("h", now);
  await store.appendCallbacks([logRow()]);
  await store.hitRate("k", 1_000, now);
  await store.sweep({ callbacks: now, records: now, now });
}

async function explain(target: Target, statements: string[]): Promise<{ statement: string; plan: string }[]> {
  if (target.dialect === "sqlite") {
    const database = new DatabaseSync(target.url.slice("sqlite:".length));
    const plans = statements.map((statement) => {
      const rows = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all();
      return { statement, plan: rows.map((row) => String(row.detail)).join("\n") };
    });
    database.close();
    return plans;
  }
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  // The tables are all but empty here, so the planner is told not to prefer reading them whole.
  await client.query("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan");
  const plans = [];
  for (const [index, statement] of statements.entries()) {
    await client.query(`PREPARE s${index} AS ${statement}`);
    const { rows } = await client.query(
      "SELECT array_length(parameter_types, 1) AS n FROM pg_prepared_statements WHERE name = $1",
      [`s${index}`],
    );
    const count = Number(rows[0]?.n ?? 0);
    const values = count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`;
    const explained = await client.query(`EXPLAIN EXECUTE s${index}${values}`);
    plans.push({ statement, plan: explained.rows.map((row) => row["QUERY PLAN"]).join("\n") });
  }
  await client.end();
  return plans;
}
