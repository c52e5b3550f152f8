import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { verifyDatabase } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { fromKysely, fromPg, once } from "../../src/once/index.ts";
import { startTestReceiver, testEnvironment } from "../../src/testing/start-test-receiver.ts";
import { withMigrated } from "../support/databases.ts";

interface Application {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Runs `work` between BEGIN and COMMIT; an error of it rolls back. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>, level?: string): Promise<T>;
  count(table: string, where?: string): Promise<number>;
}

/** Lends a database with the receiver's tables, and a table of the application: `orders`. */
async function withApplication<T>(use: (application: Application) => Promise<T>): Promise<T> {
  return withMigrated("postgres", ({ url }) => onDatabase(url, use));
}

async function onDatabase<T>(url: string, use: (application: Application) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  // The database is dropped before the server has closed them.
  pool.on("error", () => {});
  try {
    await pool.query("CREATE TABLE orders (id text NOT NULL)");
    return await use({
      url,
      pool,
      async transaction(work, level = "READ COMMITTED") {
        const client = await pool.connect();
        try {
          await client.query(`BEGIN ISOLATION LEVEL ${level}`);
          const value = await work(client);
          await client.query("COMMIT");
          return value;
        } catch (error) {
          await client.query("ROLLBACK");
          throw error;
        } finally {
          client.release();
        }
      },
      count: async (table, where = "true") =>
        Number((await pool.query(`SELECT count(*) FROM ${table} WHERE ${where}`)).rows[0].count),
    });
  } finally {
    await pool.end();
  }
}

const KEY = { source: "shop", id: "evt_1" };
const order = (id: string) => async (client: pg.PoolClient) => {
  await client.query("INSERT INTO orders VALUES ($1)", [id]);
  return { order: id };
};
const verifyAt = (url: string) => verifyDatabase(loadConfig({ ...testEnvironment(), DATABASE_URL: url }));

describe("once over pg", () => {
  it("an event runs once, and its duplicate gets the result of the run", async () => {
    await withApplication(async ({ transaction, count }) => {
      const handle = (id: string) => transaction((client) => once(fromPg(client), KEY, order(id)));
      expect(await handle("first")).toEqual({ kind: "ran", result: { order: "first" } });
      expect(await handle("second")).toEqual({ kind: "duplicate", result: { order: "first" } });
      expect(await count("orders")).toBe(1);
    });
  });

  it("a run that returns nothing has a duplicate without a result", async () => {
    await withApplication(async ({ transaction }) => {
      const handle = () => transaction((client) => once(fromPg(client), KEY, async () => {}));
      expect(await handle()).toEqual({ kind: "ran", result: undefined });
      expect(await handle()).toEqual({ kind: "duplicate", result: undefined });
    });
  });

  it("an error of the run that the application swallows leaves neither record nor effect, and the rest commits", async () => {
    await withApplication(async ({ transaction, count }) => {
      await transaction(async (client) => {
        const failing = once(fromPg(client), KEY, async (inner) => {
          await inner.query("INSERT INTO orders VALUES ('of the run')");
          throw new Error("out of stock");
        });
        await expect(failing).rejects.toThrow("out of stock");
        await client.query("INSERT INTO orders VALUES ('of the application')");
      });
      expect([await count("oncehook_records"), await count("orders")]).toEqual([0, 1]);
    });
  });

  it("a pool is refused in the place of a transaction, and leaves no record", async () => {
    await withApplication(async ({ pool, count }) => {
      const refused = once(fromPg(pool as unknown as pg.PoolClient), KEY, order("a"));
      await expect(refused).rejects.toMatchObject({ name: "OnceError", code: "25P01" });
      await expect(refused).rejects.toThrow("needs a transaction that is open");
      expect([await count("oncehook_records"), await count("orders")]).toEqual([0, 0]);
    });
  });

  it("a claim that is sent after the rollback leaves no record, and is no duplicate", async () => {
    await withApplication(async ({ pool, count }) => {
      const client = await pool.connect();
      await client.query("BEGIN");
      // As a library sends it whose own time limit has ended the transaction meanwhile.
      const late = {
        async query(text: string, values?: unknown[]) {
          const answer = await client.query(text, values);
          if (text.includes("set_config")) await client.query("ROLLBACK");
          return answer;
        },
      };
      await expect(once(fromPg(late), KEY, async () => {})).rejects.toMatchObject({ code: "25P01" });
      client.release();
      expect(await count("oncehook_records")).toBe(0);
    });
  });

  it("a run whose transaction has ended fails, even where its library sends the completion", async () => {
    await withApplication(async ({ pool, count }) => {
      const client = await pool.connect();
      await client.query("BEGIN");
      const ending = once(fromPg(client), KEY, async () => void (await client.query("ROLLBACK")));
      await expect(ending).rejects.toMatchObject({ code: "25P01" });
      client.release();
      expect(await count("oncehook_records")).toBe(0);
    });
  });

  it("an event inside the run of another one commits with it", async () => {
    await withApplication(async ({ transaction, count }) => {
      await transaction((client) =>
        once(fromPg(client), KEY, async (outer) => {
          await once(fromPg(outer), { ...KEY, id: "evt_2" }, order("inner"));
          return { outer: true };
        }),
      );
      expect(await count("oncehook_records", "status = 'completed'")).toBe(2);
    });
  });

  it.each([
    [{ source: "", id: "a" }, "the source"],
    [{ source: "shop", id: "ä".repeat(128) }, "the id"],
    [{ source: "shop", id: "a\0" }, "the id"],
    [{ source: "shop", id: "a", bodySha256: "ABC" }, "bodySha256"],
  ])("a key that the receiver could not store is refused: %j", async (key, named) => {
    const unused = { query: () => Promise.reject(new Error("no statement is sent")) };
    await expect(once(fromPg(unused), key, async () => {})).rejects.toThrow(`once: ${named}`);
  });

  it("a result that is no object is refused, and rolled back", async () => {
    await withApplication(async ({ transaction, count }) => {
      await transaction(async (client) => {
        // @ts-expect-error: a list is no object
        await expect(once(fromPg(client), KEY, async () => [1])).rejects.toThrow("return an object");
      });
      expect(await count("oncehook_records")).toBe(0);
    });
  });

  it("a database without the receiver's tables says how to make them, and the transaction goes on", async () => {
    await withApplication(async ({ transaction, count }) => {
      await transaction(async (client) => {
        const elsewhere = once(fromPg(client, { schema: "elsewhere" }), KEY, async () => {});
        await expect(elsewhere).rejects.toMatchObject({ name: "OnceError", code: "42P01" });
        await expect(elsewhere).rejects.toThrow(/"elsewhere" has no table.*npx oncehook migrate/);
        await client.query("INSERT INTO orders VALUES ('a')");
      });
      expect(await count("orders")).toBe(1);
    });
  });

  it.each(["REPEATABLE READ", "SERIALIZABLE"])(
    "a record that came after the snapshot is a duplicate under %s, and the transaction commits",
    async (level) => {
      await withApplication(async ({ transaction, count }) => {
        const outcome = await transaction(async (client) => {
          await client.query("SELECT count(*) FROM orders");
          await transaction((other) => once(fromPg(other), KEY, order("other")));
          const late = await once(fromPg(client), KEY, order("late"));
          await client.query("INSERT INTO orders VALUES ('audit')");
          return late;
        }, level);
        expect(outcome).toEqual({ kind: "duplicate", result: undefined });
        expect(await count("orders", "id <> 'late'")).toBe(2);
      });
    },
  );
});

describe("once under SERIALIZABLE", () => {
  it("a conflict of other rows is thrown as 40001, and is not taken for a duplicate", async () => {
    await withApplication(async ({ pool, transaction, count }) => {
      // It has read the records, so that the claim writes what it read.
      const reader = await pool.connect();
      await reader.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
      await reader.query("SELECT count(*) FROM oncehook_records");
      const outcome = await transaction(async (client) => {
        await client.query("SELECT count(*) FROM orders");
        await transaction((other) => other.query("INSERT INTO orders VALUES ('a')"), "SERIALIZABLE");
        return once(fromPg(client), KEY, order("b"));
      }, "SERIALIZABLE").catch(({ code }) => code);
      await reader.query("ROLLBACK");
      reader.release();
      expect(outcome).toBe("40001");
      expect([await count("oncehook_records"), await count("orders")]).toEqual([0, 1]);
    });
  });
});

describe("once over Kysely", () => {
  it("an event runs once, and a failed run leaves the transaction usable", async () => {
    await withApplication(async ({ pool, count }) => {
      const db = new Kysely<{ orders: { id: string } }>({ dialect: new PostgresDialect({ pool }) });
      const handle = (id: string) =>
        db.transaction().execute(async (trx) => {
          await once(fromKysely(trx), { ...KEY, id: "evt_2" }, async (inner) => {
            await inner.insertInto("orders").values({ id: "of a failed run" }).execute();
            throw new Error("out of stock");
          }).catch(() => {});
          return once(fromKysely(trx), KEY, async (inner) => {
            await inner.insertInto("orders").values({ id }).execute();
            return { order: id };
          });
        });
      expect(await handle("first")).toEqual({ kind: "ran", result: { order: "first" } });
      expect(await handle("second")).toEqual({ kind: "duplicate", result: { order: "first" } });
      expect([await count("oncehook_records"), await count("orders")]).toEqual([1, 1]);
    });
  });

  it("a Kysely in the place of a transaction is refused, by its type and at run time", async () => {
    await withApplication(async ({ pool }) => {
      const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
      // @ts-expect-error it is no transaction
      expect(() => fromKysely(db)).toThrow("once() needs a transaction that is open, and got the `Kysely` itself");
    });
  });
});

const paid = defineHandler({ type: "invoice_paid", data: z.object({}), handle: async () => ({ by: "the receiver" }) });

describe("once beside a receiver", () => {
  it.each([{ schema: undefined }, { schema: "callbacks" }])("each sees the other's records: %j", async ({ schema }) => {
    await using receiver = await startTestReceiver({
      databaseUrl: inject("postgresUrl"),
      handlers: [paid],
      ...(schema !== undefined && { env: { DATABASE_SCHEMA: schema } }),
    });
    await onDatabase(receiver.databaseUrl, async ({ transaction }) => {
      const handle = (id: string) =>
        transaction((client) => once(fromPg(client, { schema }), { source: "platform", id }, order(id)));
      expect(await handle("evt_ours")).toMatchObject({ kind: "ran" });
      const ours = await receiver.send({ event_type: "invoice_paid", event_id: "evt_ours" });
      expect(ours.body).toEqual({ status: "already_processed" });
      expect((await receiver.send({ event_type: "invoice_paid", event_id: "evt_its" })).body.status).toBe("success");
      expect(await handle("evt_its")).toEqual({ kind: "duplicate", result: { by: "the receiver" } });
    });
  });

  it("an event that failed in the receiver and is then handled by once is no failure any more", async () => {
    const failing = defineHandler({
      type: "invoice_paid",
      data: z.object({}),
      handle: () => Promise.reject(new Error("the bank is closed")),
    });
    await using receiver = await startTestReceiver({
      databaseUrl: inject("postgresUrl"),
      handlers: [failing],
      printFailures: false,
    });
    await receiver.send({ event_type: "invoice_paid", event_id: "evt_1" });
    expect(await receiver.failures()).toHaveLength(1);
    await onDatabase(receiver.databaseUrl, async ({ transaction }) => {
      await transaction((client) => once(fromPg(client), { source: "platform", id: "evt_1" }, async () => {}));
    });
    expect(await receiver.failures()).toEqual([]);
  });

  it("the integrity check holds for records of once", async () => {
    await withApplication(async ({ url, transaction }) => {
      await transaction((client) => once(fromPg(client), KEY, order("a")));
      await transaction((client) => once(fromPg(client), { ...KEY, id: "evt_2" }, async () => {}));
      const { contents, invariants } = await verifyAt(url);
      expect(contents?.records).toBe(2);
      expect(invariants.filter(({ violations }) => violations > 0)).toEqual([]);
    });
  });
});
