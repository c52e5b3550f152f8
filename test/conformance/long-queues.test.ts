import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { openTarget, type Target, withMigrated } from "../support/databases.ts";
import { newFailure } from "../support/failure.ts";
import { withClient } from "../support/query-plans.ts";
import { until } from "../support/until.ts";

const NOW = new Date("2026-03-04T12:00:00.000Z");
const [WAITING, TAKEN, TIMES, PLANNED_AFTER] = [5_000, 32, 5, 12];

const OF_INDEX = `SELECT idx_tup_read AS rows, idx_scan AS reads FROM pg_stat_user_indexes WHERE indexrelname = $1`;
const OF_TABLE = `SELECT seq_tup_read + idx_tup_fetch AS rows, seq_scan + idx_scan AS reads
  FROM pg_stat_user_tables WHERE relname = $1`;

/** How many rows the server looked at while the store was open; a session counts them at its end. */
async function rowsRead(target: Target, use: (store: Store) => Promise<void>, statistics: string, name: string) {
  const { store } = await openTarget(target);
  await use(store).finally(() => store.close());
  return withClient(target, async (client) => {
    const read = async () => (await client.query<{ rows: string; reads: string }>(statistics, [name])).rows[0];
    await until(async () => Number((await read())?.reads) >= TIMES);
    return Number((await read())?.rows);
  });
}

/** PostgreSQL plans a statement for the queue that it knows of, which is none as long as nothing has counted it. */
async function takesFew(take: (store: Store) => Promise<number>): Promise<void> {
  await withMigrated("postgres", async (target) => {
    const takeAfterward = async (store: Store) => {
      for (let time = 0; time < PLANNED_AFTER; time += 1) await take(store);
      await withClient(target, (client) =>
        client.query(`INSERT INTO oncehook_notifications (position, source, event_id, topic, payload, created_at)
          SELECT 1, 'platform', 'e' || n, 't', '{}', now() FROM generate_series(1, ${WAITING}) AS n`),
      );
      for (let time = 0; time < TIMES; time += 1) expect(await take(store)).toBe(TAKEN);
    };
    expect(await rowsRead(target, takeAfterward, OF_INDEX, "oncehook_notifications_fresh")).toBeLessThan(WAITING);
  });
}

describe("a long queue on PostgreSQL", () => {
  it("fresh notifications are passed on without reading those behind them", { tags: "full" }, () =>
    takesFew((store) => store.outbox.deliverDirectly("log", NOW, TAKEN, () => {})),
  );

  it("fresh notifications get their deliveries without reading those behind them", { tags: "full" }, () =>
    takesFew((store) => store.outbox.fanOut(["webhook"], NOW, TAKEN)),
  );

  it("the sources with due failures are found without reading their failures", { tags: "full" }, () =>
    withMigrated("postgres", async (target) => {
      const { store } = await openTarget(target);
      await store.failures.record(newFailure({ source: "platform", eventId: "e0" }, NOW), NOW);
      await store.close();
      await withClient(target, async (client) => {
        const columns = `source, event_type, version, attempts, retries_done, code, error, encrypted_body, body_sha256,
          first_failed_at, last_failed_at`;
        await client.query(`INSERT INTO oncehook_failures (event_id, state, next_attempt_at, ${columns})
          SELECT 'e' || n, CASE WHEN n % 2 = 0 THEN 'accepted' ELSE 'waiting' END,
            next_attempt_at - n * interval '1 second', ${columns} FROM oncehook_failures, generate_series(1, ${WAITING}) AS n`);
        await client.query("ANALYZE");
        await client.query("SELECT pg_stat_force_next_flush()");
        await client.query("SELECT pg_stat_reset()");
      });
      const find = async (opened: Store) => {
        for (let time = 0; time < TIMES; time += 1)
          expect(await opened.failureLeases.dueSources("waiting", "", NOW, 10)).toEqual(["platform"]);
      };
      expect(await rowsRead(target, find, OF_TABLE, "oncehook_failures")).toBeLessThan(WAITING);
    }),
  );
});
