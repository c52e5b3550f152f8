import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import pg from "pg";
import { describe, expect, inject, it, vi } from "vitest";
import type { OnceScope } from "../../src/store/index.ts";
import { openTarget, STAMP, type Target, withDatabase, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

/** As the store takes it for its migrations. */
const MIGRATION_LOCK = 7_140_231_901;

async function withSession<T>(target: Target, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Whether a session waits for a lock of this database that the application takes. */
async function isAwaited(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    "SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database WHERE datname = current_database() AND NOT granted",
  );
  return rowCount !== 0;
}

async function sessionsOn(target: Target): Promise<number> {
  return withSession({ ...target, url: inject("postgresUrl") }, async (client) => {
    const text = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'oncehook' AND datname = $1";
    return (await client.query(text, [new URL(target.url).pathname.slice(1)])).rowCount ?? 0;
  });
}

describe("a start on postgres", () => {
  it("a start waits for another process's migrations, and gives its own more time than a callback's statement", () =>
    withDatabase("postgres", (target) =>
      withSession(target, async (other) => {
        await other.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
        const slow = { name: "slow", up: async ({ execute }: Tx) => void (await execute(SLOW)) };
        const options = { lockTimeoutMs: 100, statementTimeoutMs: 100, migrations: [slow] };
        const opening = openTarget(target, options);
        await expect.poll(() => isAwaited(other)).toBe(true);
        // Longer than the limit for a lock.
        await other.query("SELECT pg_sleep(0.2)");
        await other.query("SELECT pg_advisory_unlock($1)", [MIGRATION_LOCK]);
        const { store, applied } = await opening;
        await store.close();
        expect(applied.at(-1)).toBe("slow");
      }),
    ));

  it("a start whose migrations take more than a minute waits for their COMMIT", { tags: "full" }, () =>
    withDatabase("postgres", async (target) => {
      const { now } = performance;
      const long = {
        name: "long",
        async up({ execute }: Tx) {
          for (const statement of SLOW_COMMIT) await execute(statement);
          vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 61_000);
        },
      };
      try {
        const { store, applied } = await openTarget(target, { migrations: [long] });
        await store.close();
        expect(applied.at(-1)).toBe("long");
      } finally {
        vi.restoreAllMocks();
      }
    }),
  );

  it("a start leaves no session behind, whether it is refused or its store closed", () =>
    withDatabase("postgres", async (target) => {
      const { store } = await openTarget(target);
      const events = ["e1", "e2", "e3", "e4"].map((id) =>
        runOnce(store, newRecord(id), async () => ({ result: {} }), committing()),
      );
      await Promise.all(events);
      expect(await sessionsOn(target)).toBeGreaterThan(0);
      await store.close();
      await expect.poll(() => sessionsOn(target)).toBe(0);
      const another = { ...STAMP, environment: "another" };
      await expect(openTarget(target, { stamp: another })).rejects.toThrow("belongs to the environment");
      await expect.poll(() => sessionsOn(target)).toBe(0);
    }));
});

describe("a statement on postgres", () => {
  it("the server cancels a handler's statement at its time limit, and the handler fails", () =>
    withStore(
      "postgres",
      async (store) => {
        const run = async ({ tx }: { tx: Tx }) => {
          await tx.execute("SELECT pg_sleep(5)");
          return { result: {} };
        };
        await expect(runOnce(store, newRecord("e1"), run, committing())).rejects.toMatchObject({
          code: "57014",
        });
      },
      { statementTimeoutMs: 100 },
    ));

  it("a statement of the store waits for a locked table longer than one lock timeout", () =>
    withStore(
      "postgres",
      async (store, target) =>
        withSession(target, async (other) => {
          // The connections are there already.
          await Promise.all([store.ping(), store.ping()]);
          await other.query("BEGIN; LOCK TABLE oncehook_failures, oncehook_notifications IN ACCESS EXCLUSIVE MODE");
          const reading = store.failures.list({ limit: 1 }, {});
          const writing = store.outbox.deliverDirectly("log", new Date(), 1, () => {});
          await other.query("SELECT pg_sleep(0.15)");
          await other.query("ROLLBACK");
          expect([await reading, await writing]).toEqual([[], 0]);
        }),
      { lockTimeoutMs: 50 },
    ));
});

type Tx = { execute(statement: string): Promise<unknown> };
const SLOW = "SELECT pg_sleep(0.15)";
/** A trigger that runs at COMMIT. */
const SLOW_COMMIT = [
  "CREATE TABLE long (n integer)",
  "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END$$",
  `CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON long DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION take_long()`,
  "INSERT INTO long VALUES (1)",
];

it("a session on postgres whose process falls silent within a transaction is ended, so that its locks are free", () =>
  withStore(
    "postgres",
    async (store) => {
      const seen: unknown[] = [];
      const handle = async ({ tx }: OnceScope) => {
        const { rows } = await tx.execute("SELECT current_setting('idle_in_transaction_session_timeout') AS ended");
        seen.push(rows[0]);
        return { result: {} };
      };
      await runOnce(store, newRecord("e1"), handle, committing());
      expect(seen).toEqual([{ ended: "5s" }]);
    },
    { statementTimeoutMs: 3_000, poolSize: 1 },
  ));

it("a server that has no such database is asked once, since it would say so again", async () => {
  const real = new URL(inject("postgresUrl"));
  let asked = 0;
  const between = createServer((client) => {
    asked += 1;
    const server = connect(Number(real.port), real.hostname);
    client
      .on("error", () => {})
      .pipe(server.on("error", () => {}))
      .pipe(client);
  }).listen(0, "127.0.0.1");
  await once(between, "listening");
  const url = new URL(real);
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`;
  url.pathname = "/no_such_database";
  try {
    await expect(openTarget({ dialect: "postgres", url: url.href })).rejects.toMatchObject({ code: "3D000" });
    expect(asked).toBe(1);
  } finally {
    between.close();
  }
});
