import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Migration, type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { openTarget, withDatabase, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { until } from "../support/until.ts";
import { withWire } from "../support/wire.ts";

const migrations = [EFFECTS];
const IDS = ["e0", "e1", "e2", "e3", "e4", "e5"];

type Run = (scope: OnceScope, eventId: string) => ReturnType<typeof addEffect>;

const deliver = (store: Store, eventId: string, run: Run = addEffect) =>
  runOnce(store, newRecord(eventId), (scope) => run(scope, eventId), committing());

describe("a group of events on postgres in which something goes wrong", () => {
  it("each member runs in its own transaction where no connection is available for the group", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations });
        let refused = 0;
        const refusing = createServer((socket) => {
          refused += 1;
          socket.destroy();
        }).listen(0, "127.0.0.1");
        await once(refusing, "listening");
        try {
          wire.lead((refusing.address() as AddressInfo).port);
          wire.cutAll();
          const deliveries = IDS.map((id) => deliver(store, id));
          await until(() => refused > 0);
          wire.lead(Number(new URL(target.url).port));
          expect(await Promise.all(deliveries)).toHaveLength(IDS.length);
          expect(await countOf(target, "effects")).toBe(IDS.length);
        } finally {
          refusing.close();
          await store.close();
        }
      }),
    ));

  it("the effect of each member is kept where the release of one's savepoint is refused", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations });
        try {
          let spoiled = 0;
          wire.replace(/RELEASE \w+/, (found) => {
            spoiled += 1;
            return spoiled === 1 ? `RELEASE ${"x".repeat(found.length - "RELEASE ".length)}` : found;
          });
          const dependent: Run = async (scope, id) => {
            await sql`SELECT 1`.execute(scope.tx.query);
            return addEffect(scope, id);
          };
          const ended = await Promise.all(IDS.map((id) => deliver(store, id, dependent)));
          expect(spoiled).toBeGreaterThan(0);
          expect(ended.map(({ kind }) => kind)).toEqual(IDS.map(() => "completed"));
          const rows = await rowsOf(target, "SELECT event_id FROM effects ORDER BY event_id");
          expect(rows.map(({ event_id }) => event_id)).toEqual(IDS);
        } finally {
          await store.close();
        }
      }),
    ));

  it("a member that did not await a statement which no group allows is refused", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const hasty: Run = async ({ tx }) => {
          void sql
            .raw("LOCK TABLE effects")
            .execute(tx.query)
            .catch(() => {});
          return { result: {} };
        };
        const ended = await Promise.allSettled(IDS.map((id) => deliver(store, id, id === "e2" ? hasty : addEffect)));
        expect(ended[2]).toMatchObject({ status: "rejected" });
        expect(await countOf(target, "oncehook_records")).toBe(IDS.length - 1);
      },
      { migrations },
    ));

  it("no member sees another's temporary table, not even one that a function made", () =>
    withStore(
      "postgres",
      async (store) => {
        const run: Run = async ({ tx }, eventId) => {
          const { rows } = await tx.execute("SELECT count_lines($1) AS n", [eventId]);
          return { result: { n: rows[0]?.n as number } };
        };
        const ended = await Promise.all(IDS.map((id) => deliver(store, id, run)));
        expect(ended).toEqual(IDS.map(() => ({ kind: "completed", result: { n: 1 } })));
      },
      { migrations: [LINES] },
    ));
});

/** A function that works in a temporary table, as in a transaction of its own it may. */
const LINES = {
  name: "test-lines",
  async up({ query }: Parameters<typeof EFFECTS.up>[0]) {
    const body = `BEGIN
      CREATE TEMP TABLE IF NOT EXISTS lines (id text) ON COMMIT DROP;
      INSERT INTO lines VALUES (event);
      RETURN (SELECT count(*)::int FROM lines);
    END`;
    await sql.raw(`CREATE FUNCTION count_lines(event text) RETURNS int LANGUAGE plpgsql AS $$${body}$$`).execute(query);
  },
};

it.each<[string, Migration[]]>([
  ["an optimistic group", []],
  ["a sequential group", [LINES]],
])("a run that %s gave up completes nothing when it ends later", (_group, own) =>
  withStore(
    "postgres",
    async (store) => {
      const gate = Promise.withResolvers<void>();
      let runs = 0;
      const completed: unknown[] = [];
      const delayed = new Promise((resolve, fail) => {
        store.submit({
          record: newRecord("slow"),
          deadline: within(10_000),
          async handle({ tx }) {
            runs += 1;
            const run = runs;
            await tx.execute("SELECT 1");
            if (run === 1) await gate.promise;
            return { run };
          },
          complete(returned) {
            completed.push(returned);
            return { result: {} };
          },
          settle: resolve,
          fail,
        });
      });
      await Promise.all([delayed, ...IDS.map((id) => deliver(store, id, async () => ({ result: {} })))]);
      gate.resolve();
      await nextTurn();
      expect(completed).toEqual([{ run: 2 }]);
    },
    { migrations: own },
  ),
);

it("a type whose handler is late again and again in its groups runs in its own transaction at once", () =>
  withStore("postgres", async (store) => {
    let runs = 0;
    const late: Run = async () => {
      runs += 1;
      await sleep(60);
      return { result: {} };
    };
    const runsOfRounds: number[] = [];
    while (runsOfRounds.length < 10 && runsOfRounds.at(-1) !== 1) {
      runs = 0;
      const number = runsOfRounds.length;
      const slow = newRecord(`slow-${number}`, { eventType: "slow" });
      const quick = runOnce(store, newRecord(`quick-${number}`), async () => ({ result: {} }), committing());
      await Promise.all([quick, runOnce(store, slow, (scope) => late(scope, slow.eventId), committing())]);
      runsOfRounds.push(runs);
    }
    // In company and once more, until it is known.
    expect(runsOfRounds.at(-1)).toBe(1);
  }));
