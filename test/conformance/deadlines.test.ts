import { describe, expect, it } from "vitest";
import { sql } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, within } from "../support/effects.ts";
import { withLock } from "../support/held-lock.ts";
import { runOnce } from "../support/once.ts";

const SHORT_MS = 300;
/** Far above the deadline and far below `LONG_LOCK`, so that a slow machine cannot decide the test. */
const IN_TIME_MS = 2_000;
/** A lock may be waited for much longer than these deliveries have. */
const LONG_LOCK = { migrations: [EFFECTS], lockTimeoutMs: 5_000 };

async function timed<T>(work: Promise<T>): Promise<{ ms: number; outcome: PromiseSettledResult<T> }> {
  const start = performance.now();
  const [outcome] = await Promise.allSettled([work]);
  return { ms: performance.now() - start, outcome };
}

const LOCKED = "LOCK TABLE oncehook_records IN ACCESS EXCLUSIVE MODE";
const UNAVAILABLE = {
  status: "rejected",
  reason: { name: "StoreError", reason: "unavailable", handlerStarted: false },
};
const UNAVAILABLE_IN_RUN = { ...UNAVAILABLE, reason: { ...UNAVAILABLE.reason, handlerStarted: true } };

describe.each(DIALECTS)("the deadline of a delivery on %s", (dialect) => {
  it("the deadline ends the wait behind another event for the only connection, as unavailable", () =>
    withStore(
      dialect,
      async (store, target) => {
        const begun = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<void>();
        const first = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            begun.resolve();
            await gate.promise;
            return addEffect(scope, "e1");
          },
          committing(),
        );
        await begun.promise;
        const options = { deadline: within(SHORT_MS), mode: "commit" } as const;
        const second = await timed(runOnce(store, newRecord("e2"), (scope) => addEffect(scope, "e2"), options));
        gate.resolve();
        await first;
        expect(second.outcome).toMatchObject(UNAVAILABLE);
        expect(second.ms).toBeLessThan(IN_TIME_MS);
        expect(await countOf(target, "effects")).toBe(1);
      },
      { ...LONG_LOCK, poolSize: 1 },
    ));
});

describe("the deadline of a delivery behind a lock on postgres", () => {
  it("the deadline ends the search for a record, which another delivery never holds up, as unavailable", () =>
    withStore(
      "postgres",
      (store, target) =>
        withLock(target, LOCKED, async () => {
          const { ms, outcome } = await timed(store.find(newRecord("e1"), within(SHORT_MS)));
          expect(outcome).toMatchObject(UNAVAILABLE);
          expect(ms).toBeLessThan(IN_TIME_MS);
        }),
      LONG_LOCK,
    ));

  it("the deadline ends a handler's wait for a row of its own table as unavailable, not as an event in progress", () =>
    withStore(
      "postgres",
      async (store, target) => {
        await withLock(target, "LOCK TABLE effects IN ACCESS EXCLUSIVE MODE", async () => {
          const options = { deadline: within(SHORT_MS), mode: "commit" } as const;
          const run = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), options);
          const { ms, outcome } = await timed(run);
          expect(outcome).toMatchObject(UNAVAILABLE_IN_RUN);
          expect(ms).toBeLessThan(IN_TIME_MS);
        });
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      LONG_LOCK,
    ));

  it("the deadline ends the repetition of a transaction that never succeeds, as unavailable", () =>
    withStore(
      "postgres",
      async (store, target) => {
        let runs = 0;
        const run = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            runs += 1;
            await sql.raw("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$").execute(tx.query);
            return { result: {} };
          },
          { deadline: within(SHORT_MS), mode: "commit" },
        );
        expect((await timed(run)).outcome).toMatchObject(UNAVAILABLE_IN_RUN);
        expect(runs).toBeGreaterThan(1);
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      LONG_LOCK,
    ));
});
