import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../support/until.ts";
import { goesOn } from "../driver/goes-on.ts";
import { underFire } from "../driver/round.ts";
import { FaultyDisk, type Trouble } from "../machine/disk-faults.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

/** So many callbacks must be acknowledged after the trouble is over, to call the receiver recovered. */
const RECOVERED = 20;
const RECOVERY_MS = 30_000;

/**
 * The disk is in trouble while callbacks come in, and is well again. Where the receiver ended itself, since it could not
 * tell any more what the disk has, it is started again as a service manager does; nobody else helps.
 */
function inTrouble(name: string, trouble: Trouble, full: number): Round {
  return {
    name,
    title: `the disk ${trouble}, SQLite`,
    full,
    short: 2,
    async run(place) {
      const disk = new FaultyDisk();
      try {
        return await inParts(place, (count) =>
          place.withTarget("sqlite", (target) =>
            underFire(
              {
                target,
                chance: place.chance.fork(),
                isKeptUp: true,
                env: disk.env,
                platform: { connections: 16, rate: 600 },
              },
              async ({ book, chance }) => {
                for (let done = 0; done < count; done += 1) {
                  await sleep(chance.between(100, 500));
                  const before = disk.failed;
                  disk.begin(trouble);
                  await until(() => disk.failed > before, RECOVERY_MS);
                  await sleep(chance.between(0, 500));
                  disk.end();
                  await goesOn(book, RECOVERED, RECOVERY_MS);
                }
              },
            ),
          ),
        );
      } finally {
        disk.destroy();
      }
    },
  };
}

export const DISK_ROUNDS = [
  inTrouble("disk-full", "is full", 50),
  inTrouble("disk-flush", "does not flush", 50),
  inTrouble("disk-write", "does not take what is written", 50),
  inTrouble("disk-read-only", "is read-only", 50),
];
