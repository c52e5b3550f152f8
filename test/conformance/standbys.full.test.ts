import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresCluster } from "../faults/machine/postgres-cluster.ts";
import { addEffect, committing, EFFECTS, newRecord, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { openTarget } from "../support/open-target.ts";
import { until } from "../support/until.ts";

const DATABASE = "standbys";
const servers: PostgresCluster[] = [];

beforeAll(async () => {
  const primary = await PostgresCluster.create();
  servers.push(primary);
  await primary.query(`CREATE DATABASE ${DATABASE}`);
  servers.push(await primary.standby("standby"));
  await nameStandby("standby");
  await until(async () => (await primary.query(IS_SYNC)).length === 1, 60_000);
}, 120_000);

afterAll(async () => {
  for (const server of servers) await server.destroy();
});

async function nameStandby(name: string): Promise<void> {
  await servers[0]?.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await servers[0]?.query("SELECT pg_reload_conf()");
}

const IS_SYNC = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
const LONG = { timeout: 180_000 };

it(
  "an event that no synchronous standby has is not called done, also where a restart of the server made it visible",
  LONG,
  async () => {
    const [primary, standby] = servers as [PostgresCluster, PostgresCluster];
    const target = { dialect: "postgres", url: primary.url(DATABASE) } as const;
    const opened = await openTarget(target, { migrations: [EFFECTS], statementTimeoutMs: 2_000 });
    const { store } = opened;
    try {
      const [replicated, alone] = [newRecord("replicated"), newRecord("alone")];
      await runOnce(store, replicated, (scope) => addEffect(scope, "replicated"), committing());
      expect(await store.find(replicated, within(10_000))).toMatchObject({ status: "completed" });

      await standby.stop("fast");
      const waiting = runOnce(store, alone, (scope) => addEffect(scope, "alone"), committing(4_000));
      await expect(waiting).rejects.toThrow();
      await primary.stop("fast");
      await primary.start();
      const seen = "SELECT 1 FROM oncehook_records WHERE event_id = 'alone'";
      expect(await primary.query(seen, DATABASE)).toHaveLength(1);
      await expect(store.find(alone, within(2_000))).rejects.toMatchObject({ reason: "unavailable" });
      const again = runOnce(store, alone, (scope) => addEffect(scope, "alone"), committing(2_000));
      await expect(again).rejects.toMatchObject({ reason: "unavailable" });

      await standby.start();
      expect(await store.find(alone, within(60_000))).toMatchObject({ status: "completed" });
    } finally {
      await store.close();
    }
  },
);

it("a standby that is named while the receiver runs is waited for from then on", LONG, async () => {
  const [primary] = servers as [PostgresCluster];
  await nameStandby("");
  const { store } = await openTarget({ dialect: "postgres", url: primary.url(DATABASE) });
  try {
    const record = newRecord("before");
    await runOnce(store, record, async () => ({ result: {} }), committing());
    const find = (ms: number) => store.find(record, within(ms));
    expect(await find(10_000)).toMatchObject({ status: "completed" });
    await nameStandby("absent");
    await until(() =>
      find(300).then(
        () => false,
        ({ reason }) => reason === "unavailable",
      ),
    );
  } finally {
    await nameStandby("");
    await store.close();
  }
});
