import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "../../support/open-target.ts";
import { until } from "../../support/until.ts";
import { withWire } from "../../support/wire.ts";
import type { Audit } from "../driver/audit.ts";
import type { Chance } from "../driver/chance.ts";
import { underFire } from "../driver/round.ts";
import { PostgresCluster } from "../machine/postgres-cluster.ts";
import type { Round } from "./round.ts";

const DATABASE = "failover";
const FIRE = { size: 2, platform: { connections: 32, rate: 400 } };

/**
 * A server with a synchronous standby: it dies, the standby is promoted, and the receivers find it where the old one was.
 * What was acknowledged must be there, since the standby had it before anybody was told.
 */
export const failover: Round = {
  name: "failover",
  title: "failover to a promoted replica, synchronous commit",
  full: 20,
  short: 1,
  async run(place) {
    const audits: Audit[] = [];
    for (let done = 0; done < place.count; done += 1) {
      audits.push(await failOver(place.chance.fork()));
      place.say(`${done + 1} of ${place.count}`);
    }
    return { count: place.count, audits };
  },
};

async function failOver(chance: Chance): Promise<Audit> {
  const primary = await PostgresCluster.create();
  const servers = [primary];
  try {
    await primary.query(`CREATE DATABASE ${DATABASE}`);
    const standby = await primary.standby("standby");
    servers.push(standby);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await primary.query("SELECT pg_reload_conf()");
    await until(async () => {
      const [row] = await primary.query("SELECT sync_state FROM pg_stat_replication");
      return row?.sync_state === "sync";
    });
    return await withWire(primary.url(DATABASE), (wire) => {
      const target: Target = { dialect: "postgres", url: wire.through(primary.url(DATABASE)) };
      return underFire({ ...FIRE, target, chance }, async () => {
        await sleep(chance.between(300, 1_500));
        if (chance.is(0.5)) await withoutStandby(primary, standby, chance);
        else await primary.stop("immediate");
        await standby.promote();
        wire.lead(standby.port);
        await sleep(1_000);
      });
    });
  } finally {
    for (const server of servers) await server.destroy();
  }
}

/**
 * What waits for an absent standby becomes visible when its server is restarted, and no standby has it. Somebody who is sent
 * such an event again must not take it for done.
 */
async function withoutStandby(primary: PostgresCluster, standby: PostgresCluster, chance: Chance): Promise<void> {
  await standby.stop("fast");
  await sleep(chance.between(500, 2_000));
  await primary.stop("fast");
  await primary.start();
  await sleep(chance.between(1_000, 3_000));
  // It comes back without having heard of the last of them.
  await primary.stop("immediate");
  await standby.start();
}
