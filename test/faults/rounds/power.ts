import { setTimeout as sleep } from "node:timers/promises";
import { databaseFile } from "../../support/open-target.ts";
import { until } from "../../support/until.ts";
import { goesOn } from "../driver/goes-on.ts";
import { type UnderFire, underFire } from "../driver/round.ts";
import { FaultyDisk } from "../machine/disk-faults.ts";
import { Power } from "../machine/power.ts";
import { inParts } from "./in-parts.ts";
import type { Place, Ran, Round } from "./round.ts";

const PLATFORM = { connections: 16, rate: 400 };
const RECOVERED = 20;
const RECOVERY_MS = 30_000;

/** The machine's power fails under load: the receiver is gone, and everything that was not flushed with it. */
const failures: Round = {
  name: "power",
  title: "power failures, after which the disk has what was flushed and no more, SQLite",
  full: 100,
  short: 3,
  run: (place) => withPower(place, [], async () => {}),
};

/**
 * The disk fails a flush, the receiver ends and the next one goes on; then the power fails. What the failed flush left out is
 * missing in the middle of the log, unless it was written once more.
 */
const afterFailedFlush: Round = {
  name: "power-after-flush",
  title: "power failures after a flush that failed, and a restart, SQLite",
  full: 50,
  short: 1,
  async run(place) {
    const disk = new FaultyDisk();
    try {
      return await withPower(place, [disk], async ({ fleet, book, chance }) => {
        const before = disk.failed;
        disk.begin("does not flush");
        await until(() => disk.failed > before, RECOVERY_MS);
        // It may or may not come so far as to close its database, which writes the log's pages elsewhere.
        if (chance.is(0.5)) await fleet.kill(0);
        disk.end();
        await fleet.ended(0);
        await fleet.up(0);
        await goesOn(book, RECOVERED, RECOVERY_MS);
      });
    } finally {
      disk.destroy();
    }
  },
};

async function withPower(
  place: Place,
  disks: readonly FaultyDisk[],
  before: (round: UnderFire) => Promise<void>,
): Promise<Ran> {
  return inParts(place, (count) =>
    place.withTarget("sqlite", async (target) => {
      const power = new Power();
      const machine = [power, ...disks].map(({ env }) => env);
      const env = Object.assign({}, ...machine, {
        LD_PRELOAD: machine.map((one) => one.LD_PRELOAD).join(":"),
      });
      const file = databaseFile(target);
      try {
        return await underFire({ target, chance: place.chance.fork(), env, platform: PLATFORM }, async (round) => {
          const { fleet, chance } = round;
          for (let done = 0; done < count; done += 1) {
            await sleep(chance.between(100, 600));
            await before(round);
            await fleet.kill(0);
            power.fail(file);
            await fleet.up(0);
          }
        });
      } finally {
        power.destroy();
      }
    }),
  );
}

export const POWER_ROUNDS = [failures, afterFailedFlush];
