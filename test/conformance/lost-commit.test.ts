import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { EventKey } from "../../src/domain/index.ts";
import { type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { BEGIN, commit } from "../../src/store/postgres/groups/in-transaction.ts";
import { createPool, withClient } from "../../src/store/postgres/wire/pool.ts";
import { openTarget, type Target, withDatabase, withMigrated } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf, within } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure, retriesOf } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";
import { until } from "../support/until.ts";
import { type Loss, type Wire, withWire } from "../support/wire.ts";

const LOSSES: readonly [what: string, loss: Loss, kept: number, next: string][] = [
  ["the answer of a COMMIT that happened", "answer", 1, "duplicate"],
  ["a COMMIT on its way to the server", "commit", 0, "completed"],
];

describe("a connection that breaks around COMMIT on postgres", () => {
  it.each(LOSSES)(
    "a delivery that loses %s fails without a guess, and the redelivery finds out",
    (_, loss, kept, next) =>
      withDatabase("postgres", (target) =>
        withWire(target.url, async (wire) => {
          const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations: [EFFECTS] });
          try {
            let runs = 0;
            const deliver = () =>
              runOnce(
                store,
                newRecord("e1"),
                (scope) => {
                  runs += 1;
                  return addEffect(scope, "e1");
                },
                committing(),
              );
            wire.loseNext(loss);
            await expect(deliver()).rejects.toMatchObject({ name: "StoreError", reason: "commit_unknown" });
            expect(runs).toBe(1);
            expect(await countOf(target, "effects")).toBe(kept);
            expect((await deliver()).kind).toBe(next);
            expect(await countOf(target, "effects")).toBe(1);
          } finally {
            await store.close();
          }
        }),
      ),
  );
});

/** A COMMIT that takes long. */
const SLOW_COMMIT: typeof EFFECTS = {
  name: "test-slow-commit",
  async up({ query }) {
    for (const statement of [
      "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(60); RETURN NULL; END$$",
      `CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION take_long()`,
    ])
      await sql.raw(statement).execute(query);
  },
};
const END_COMMIT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'PgSleep'`;

describe("a session that the server ends during COMMIT on postgres", () => {
  it("a lost session leaves unknown whether the event was committed", () =>
    withDatabase("postgres", async (target) => {
      const { store } = await openTarget(target, { migrations: [EFFECTS, SLOW_COMMIT] });
      try {
        const delivering = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        const ending = until(async () => (await rowsOf(target, END_COMMIT)).length === 1);
        await expect(delivering).rejects.toMatchObject({ name: "StoreError", reason: "commit_unknown" });
        await ending;
      } finally {
        await store.close();
      }
    }));
});

/** As in a group whose handlers send no SQL. */
describe("a COMMIT that goes with its BEGIN on postgres", () => {
  const UNKNOWN = { name: "StoreError", reason: "commit_unknown" };
  const limits = { size: 1, statementTimeoutMs: 20_000, lockTimeoutMs: 5_000 };

  it("a COMMIT without an answer leaves unknown whether it happened", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const pool = createPool({ ...limits, connection: wire.through(target.url) });
        const committed = withClient(pool, within(5_000), (client) => {
          wire.silence();
          return commit(client, [BEGIN], 200);
        });
        await expect(committed).rejects.toMatchObject(UNKNOWN);
        await pool.end();
      }),
    ));

  it("a COMMIT whose session the server ends leaves unknown whether it happened", () =>
    withDatabase("postgres", async (target) => {
      const { store } = await openTarget(target, { migrations: [EFFECTS, SLOW_COMMIT] });
      await store.close();
      const pool = createPool({ ...limits, connection: target.url });
      const insert = { text: "INSERT INTO effects (event_id) VALUES ('e1')" };
      const committed = withClient(pool, within(5_000), (client) => commit(client, [BEGIN, insert]));
      const ending = until(async () => (await rowsOf(target, END_COMMIT)).length === 1);
      await expect(committed).rejects.toMatchObject(UNKNOWN);
      await ending;
      await pool.end();
    }));
});

describe("a connection that breaks before the answer to a statement of the store's own", () => {
  it("the statement fails and is not sent again, since it may have run", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) });
        try {
          const failure = {
            ...newRecord("e1"),
            code: "handler_failed",
            error: "down",
            encryptedBody: Buffer.of(1),
            nextAttemptAt: null,
          } as const;
          let cuts = 0;
          wire.replace(/INSERT 0 1/, (found) => {
            cuts += 1;
            if (cuts === 1) wire.cutAll();
            return found;
          });
          const recording = store.failures.record(failure, new Date());
          await expect(recording).rejects.toMatchObject({ name: "ConnectionLost" });
          expect(cuts).toBe(1);
          expect(await store.failures.get(failure)).toMatchObject({ attempts: 1 });
        } finally {
          await store.close();
        }
      }),
    ));
});

describe("a connection that breaks before the answer to a lease on postgres", () => {
  const NOW = new Date("2026-01-01T00:00:00.000Z");
  const LATER = new Date(NOW.getTime() + 30_000);
  const leaseOf = (owner: string, now = NOW) => ({ owner, now, until: new Date(now.getTime() + 30_000) });

  const withWiredStore = (use: (store: Store, wire: Wire, target: Target) => Promise<void>) =>
    withMigrated("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) });
        try {
          await use(store, wire, target);
        } finally {
          await store.close();
        }
      }),
    );

  /** Cuts all connections once, at what the server answers. @returns how often it was answered */
  function cutAt(wire: Wire, pattern: RegExp): () => number {
    let answers = 0;
    wire.replace(pattern, (found) => {
      answers += 1;
      if (answers === 1) wire.cutAll();
      return found;
    });
    return () => answers;
  }

  /** With one delivery that is due. */
  async function notify(store: Store): Promise<void> {
    const enqueue = async (scope: OnceScope) => {
      await scope.enqueue({ topic: "order.paid", payload: {} });
      return { result: {} };
    };
    await runOnce(store, newRecord("e1"), enqueue, committing());
    await store.outbox.fanOut(["webhook"], NOW, 9);
  }

  it("failures whose lease was not answered are due again at once, and their attempts do not count", () =>
    withWiredStore(async ({ failures, failureLeases }, wire, target) => {
      const [fresh, suspect] = ["e1", "suspect"].map((eventId) => ({ source: "platform", eventId })) as [
        EventKey,
        EventKey,
      ];
      for (const key of [fresh, suspect]) await failures.record(newFailure(key, NOW), NOW);
      await execute(target, "UPDATE oncehook_failures SET crashes = 1 WHERE event_id = 'suspect'");
      for (const lease of [
        () => failureLeases.leaseDue(leaseOf("a"), retriesOf(9)),
        () => failureLeases.leaseSuspect(leaseOf("b")),
        () => failureLeases.leaseOne(fresh, leaseOf("c")),
      ]) {
        const answers = cutAt(wire, /UPDATE 1/);
        await expect(lease()).rejects.toMatchObject({ name: "ConnectionLost" });
        expect(answers()).toBeGreaterThan(0);
      }
      const settled = { attempts: 1, retriesDone: 0, leasedUntil: null };
      expect(await failures.get(fresh)).toMatchObject({ ...settled, crashes: 0 });
      expect(await failures.get(suspect)).toMatchObject({ ...settled, crashes: 1 });
      expect(await failureLeases.leaseDue(leaseOf("d"), retriesOf(9))).toMatchObject([fresh]);
      expect(await failureLeases.leaseSuspect(leaseOf("e"))).toMatchObject(suspect);
    }));

  it("deliveries whose lease was not answered are due again at once, and their attempts do not count", () =>
    withWiredStore(async (store, wire) => {
      const { notificationDeliveries: deliveries } = store;
      await notify(store);
      const unknown = { name: "StoreError", reason: "commit_unknown" };
      wire.loseNext("answer");
      await expect(deliveries.leaseDue(["webhook"], leaseOf("a"), 9)).rejects.toMatchObject(unknown);
      expect(await deliveries.leaseDue(["webhook"], leaseOf("b"), 9)).toMatchObject([{ attempts: 1 }]);
      wire.loseNext("answer");
      const expired = deliveries.leaseExpired(["webhook"], leaseOf("c", LATER));
      await expect(expired).rejects.toMatchObject(unknown);
      const due = await deliveries.leaseDue(["webhook"], leaseOf("d", LATER), 9);
      expect(due).toMatchObject([{ attempts: 1 }]);
    }));

  it("deliveries are leased with their notifications, or not at all", () =>
    withWiredStore(async (store, wire) => {
      await notify(store);
      const answers = cutAt(wire, /order\.paid/);
      const due = await store.notificationDeliveries.leaseDue(["webhook"], leaseOf("a"), 9);
      expect(due).toMatchObject([{ attempts: 1, notification: { topic: "order.paid" } }]);
      expect(answers()).toBe(2);
    }));
});

describe("a server that falls silent without closing its connections", () => {
  it(
    "a silent server is asked again over new connections, and the silent ones are never used again",
    { tags: "full" },
    () =>
      withDatabase("postgres", (target) =>
        withWire(target.url, async (wire) => {
          const options = { migrations: [EFFECTS], statementTimeoutMs: 200, poolSize: 2 };
          const { store } = await openTarget({ ...target, url: wire.through(target.url) }, options);
          try {
            await store.ping();
            wire.silence();
            expect(await store.find(newRecord("e1"), within(15_000))).toBeUndefined();
            wire.silence();
            const deliver = () =>
              runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing(15_000));
            expect((await deliver()).kind).toBe("completed");
            expect((await deliver()).kind).toBe("duplicate");
            expect(await countOf(target, "effects")).toBe(1);
          } finally {
            await store.close();
          }
        }),
      ),
  );

  it("a silent server fails a readiness check, and the next one uses another connection", { tags: "full" }, () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const options = { statementTimeoutMs: 200, poolSize: 1 };
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, options);
        try {
          await store.ping();
          wire.silence();
          await expect(store.ping()).rejects.toMatchObject({ name: "ConnectionLost" });
          await store.ping();
        } finally {
          await store.close();
        }
      }),
    ),
  );

  it(
    "a silent server delays no event past its deadline, neither before its handler nor at its COMMIT",
    { tags: "full" },
    () =>
      withDatabase("postgres", (target) =>
        withWire(target.url, async (wire) => {
          // So few connections serve each event by itself.
          const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { poolSize: 2 });
          try {
            await Promise.all([store.ping(), store.ping()]);
            const handle = async () => {
              wire.freeze();
              return { result: {} };
            };
            const begun = performance.now();
            const lost = runOnce(store, newRecord("e1"), handle, committing(600));
            await expect(lost).rejects.toMatchObject({ reason: "commit_unknown" });
            const unanswered = runOnce(store, newRecord("e2"), handle, committing(600));
            await expect(unanswered).rejects.toMatchObject({ reason: "unavailable", handlerStarted: false });
            expect(performance.now() - begun).toBeLessThan(4_000);
          } finally {
            wire.cutAll();
            await store.close();
          }
        }),
      ),
  );

  it("silent connections delay no look-up on the others", { tags: "full" }, () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { statementTimeoutMs: 500 });
        try {
          await Promise.all([store.ping(), store.ping()]);
          wire.silence();
          const silenced: Promise<unknown>[] = [];
          let ended = 0;
          for (const id of ["e1", "e2"]) {
            const end = () => {
              ended += 1;
            };
            silenced.push(store.find(newRecord(id), within(2_000)).then(end, end));
            await nextTurn();
          }
          expect(await store.find(newRecord("e3"), within(1_500))).toBeUndefined();
          // They have no answer, and whether they get one at their deadline over another connection is theirs.
          expect(ended).toBe(0);
          await Promise.all(silenced);
        } finally {
          await store.close();
        }
      }),
    ),
  );
});
