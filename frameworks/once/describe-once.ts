import pg from "pg";
import { describe, expect, it } from "vitest";
import { verifyDatabase } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { type OnceKey, type OnceTransaction, once } from "../../src/once/index.ts";
import { testEnvironment } from "../../src/testing/start-test-receiver.ts";
import { withMigrated } from "../../test/support/databases.ts";
import { PGBOUNCER, withPgbouncer } from "../../test/support/pgbouncer.ts";
import type { Level, Library, OpenLibrary } from "./library.ts";

const AT_ONCE = 64;
const LEVELS: readonly Level[] = ["read committed", "repeatable read", "serializable"];
const EVENT = { source: "shop", id: "evt_1" };
const swallow = () => {};

/** Notes by table, of an application whose transactions have ended. */
interface Counts {
  readonly records: number;
  readonly effects: number;
  readonly audits: number;
}

interface Scene<Tx> {
  readonly library: Library<Tx>;
  readonly url: string;
  /** Handles an event with one effect. */
  handle(tx: Tx, key?: OnceKey): ReturnType<typeof once<Tx, { order: number }>>;
  count(): Promise<Counts>;
}

async function withScene<Tx>(open: OpenLibrary<Tx>, use: (scene: Scene<Tx>) => Promise<void>): Promise<void> {
  await withMigrated("postgres", async ({ url }) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const table of ["effects", "audits"])
      await client.query(`CREATE TABLE ${table} (id bigserial PRIMARY KEY, note text NOT NULL)`);
    const library = await open(url);
    const rows = async (table: string) => Number((await client.query(`SELECT count(*) FROM ${table}`)).rows[0].count);
    try {
      await use({
        library,
        url,
        handle: async (tx, key = EVENT) =>
          once(library.join(tx), key, async (inner) => {
            await library.insert(inner, "effects", key.id);
            return { order: 7 };
          }),
        count: async () => ({
          records: await rows("oncehook_records"),
          effects: await rows("effects"),
          audits: await rows("audits"),
        }),
      });
    } finally {
      await library.close();
      await client.end();
    }
  });
}

/** How often each text occurs. */
function tally(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

/** The transaction ends between two statements of `once`, as at a time limit of the library. */
function endedAfterMark<Tx>(tx: OnceTransaction<Tx>): OnceTransaction<Tx> {
  return {
    ...tx,
    async query(text, values) {
      const rows = await tx.query(text, values);
      if (text.includes("set_config")) await tx.query("ROLLBACK");
      return rows;
    },
    savepoint: (work) => tx.savepoint((inner) => work(endedAfterMark(inner))),
  };
}

/** What `once` promises, with a library of the applications. */
export function describeOnce<Tx>(name: string, open: OpenLibrary<Tx>): void {
  describe(`once with ${name}`, () => {
    const using = (use: (scene: Scene<Tx>) => Promise<void>) => () => withScene(open, use);

    it(
      "an event runs once, and its duplicate gets the result of the run",
      using(async ({ library, handle, count, url }) => {
        const first = await library.transaction("read committed", (tx) => handle(tx));
        const second = await library.transaction("read committed", (tx) => handle(tx));
        expect(first).toEqual({ kind: "ran", result: { order: 7 } });
        expect(second).toEqual({ kind: "duplicate", result: { order: 7 } });
        expect(await count()).toEqual({ records: 1, effects: 1, audits: 0 });
        const { invariants } = await verifyDatabase(loadConfig({ ...testEnvironment(), DATABASE_URL: url }));
        expect(invariants.filter(({ violations }) => violations > 0)).toEqual([]);
      }),
    );

    it.each(LEVELS)(
      `${AT_ONCE} deliveries of an event at once have one effect, and each transaction commits without a retry: %s`,
      (level) =>
        withScene(open, async ({ library, handle, count }) => {
          const outcomes = await Promise.allSettled(
            Array.from({ length: AT_ONCE }, () =>
              library.transaction(level, async (tx) => {
                const { kind } = await handle(tx);
                await library.insert(tx, "audits", kind);
                return kind;
              }),
            ),
          );
          const kinds = outcomes.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)));
          expect(tally(kinds)).toEqual({ ran: 1, duplicate: AT_ONCE - 1 });
          expect(await count()).toEqual({ records: 1, effects: 1, audits: AT_ONCE });
        }),
    );

    it.skipIf(PGBOUNCER === undefined)(
      `${AT_ONCE} deliveries of an event at once have one effect behind a pooler in transaction mode`,
      using(async ({ url, library, count }) => {
        await withPgbouncer(url, async (through) => {
          const pooled = await open(through, { prepare: false });
          const kinds = await Promise.all(
            Array.from({ length: AT_ONCE }, () =>
              pooled.transaction("read committed", async (tx) => {
                const { kind } = await once(library.join(tx), EVENT, async (inner) => {
                  await library.insert(inner, "effects", EVENT.id);
                });
                await library.insert(tx, "audits", kind);
                return kind;
              }),
            ),
          );
          expect(tally(kinds)).toEqual({ ran: 1, duplicate: AT_ONCE - 1 });
          await pooled.close();
        });
        expect(await count()).toEqual({ records: 1, effects: 1, audits: AT_ONCE });
      }),
    );

    it.each(["repeatable read", "serializable"] as const)(
      "a record that came after the snapshot is a duplicate without a result, and the transaction commits: %s",
      (level) =>
        withScene(open, async ({ library, handle, count }) => {
          const late = await library.transaction(level, async (tx) => {
            await library.insert(tx, "audits", "takes the snapshot");
            await library.transaction("read committed", (other) => handle(other));
            const outcome = await handle(tx);
            await library.insert(tx, "audits", "afterwards");
            return outcome;
          });
          expect(late).toEqual({ kind: "duplicate", result: undefined });
          expect(await count()).toEqual({ records: 1, effects: 1, audits: 2 });
        }),
    );

    it(
      "an error of the run that the application swallows leaves neither record nor effect, and its own row commits",
      using(async ({ library, count }) => {
        await library.transaction("read committed", async (tx) => {
          const failing = once(library.join(tx), EVENT, async (inner) => {
            await library.insert(inner, "effects", EVENT.id);
            throw new Error("out of stock");
          });
          await expect(failing).rejects.toThrow("out of stock");
          await library.insert(tx, "audits", "afterwards");
        });
        expect(await count()).toEqual({ records: 0, effects: 0, audits: 1 });
      }),
    );

    it(
      "a statement of the run that fails leaves neither record nor effect, and the application's own row commits",
      using(async ({ library, count }) => {
        await library.transaction("read committed", async (tx) => {
          const failing = once(library.join(tx), EVENT, async (inner) => {
            await library.insert(inner, "effects", EVENT.id);
            await library.fail(inner);
          });
          await failing.then(() => expect.unreachable(), swallow);
          await library.insert(tx, "audits", "afterwards");
        });
        expect(await count()).toEqual({ records: 0, effects: 0, audits: 1 });
      }),
    );

    it(
      "a statement that the run itself swallows fails the run, and leaves neither record nor effect",
      using(async ({ library, count }) => {
        const swallowing = library.transaction("read committed", (tx) =>
          once(library.join(tx), EVENT, async (inner) => {
            await library.insert(inner, "effects", EVENT.id);
            await library.fail(inner).catch(swallow);
          }),
        );
        await swallowing.then(() => expect.unreachable(), swallow);
        expect(await count()).toEqual({ records: 0, effects: 0, audits: 0 });
      }),
    );

    it(
      "a transaction that the application rolls back leaves nothing, and the event runs afterwards",
      using(async ({ library, handle, count }) => {
        const rolledBack = library.transaction("read committed", async (tx) => {
          await handle(tx);
          throw new Error("the application rolls back");
        });
        await expect(rolledBack).rejects.toThrow("the application rolls back");
        expect(await count()).toEqual({ records: 0, effects: 0, audits: 0 });
        expect((await library.transaction("read committed", (tx) => handle(tx))).kind).toBe("ran");
      }),
    );

    it(
      "a pool in the place of a transaction is refused, and leaves no record",
      using(async ({ library, count }) => {
        const mistaken = async () => once(library.joinPool(), EVENT, async () => {});
        await expect(mistaken()).rejects.toMatchObject({ name: "OnceError", code: "25P01" });
        expect(await count()).toEqual({ records: 0, effects: 0, audits: 0 });
      }),
    );

    it(
      "a transaction that has ended is refused, and leaves no record",
      using(async ({ library, handle, count }) => {
        let ended: Tx | undefined;
        await library.transaction("read committed", async (tx) => {
          ended = tx;
        });
        await handle(ended as Tx).then(() => expect.unreachable(), swallow);
        expect((await count()).records).toBe(0);
      }),
    );

    it(
      "a claim that the library sends after the rollback leaves no record, and is no duplicate",
      using(async ({ library, count }) => {
        let error: unknown;
        const ended = library.transaction("read committed", async (tx) => {
          await once(endedAfterMark(library.join(tx)), EVENT, async () => {}).catch((refused) => {
            error = refused;
          });
        });
        // Some libraries report the transaction that was ended behind their back.
        await ended.catch(swallow);
        expect(error).toMatchObject({ name: "OnceError", code: "25P01" });
        expect((await count()).records).toBe(0);
      }),
    );

    it(
      "an event inside a savepoint of the application goes with that",
      using(async ({ library, handle, count }) => {
        const { nested } = library;
        if (nested === undefined) return expect(["Kysely", "Prisma"]).toContain(name);
        await library.transaction("read committed", async (tx) => {
          await nested(tx, async (inner) => void (await handle(inner)));
          await library.insert(tx, "audits", "afterwards");
        });
        expect(await count()).toEqual({ records: 1, effects: 1, audits: 1 });
      }),
    );

    it(
      "an event inside the run of another one commits with it",
      using(async ({ library, handle, count }) => {
        await library.transaction("read committed", (tx) =>
          once(library.join(tx), { ...EVENT, id: "outer" }, async (inner) => void (await handle(inner))),
        );
        expect(await count()).toEqual({ records: 2, effects: 1, audits: 0 });
      }),
    );
  });
}
