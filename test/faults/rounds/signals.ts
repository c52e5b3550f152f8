import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../support/open-target.ts";
import type { Fleet } from "../driver/fleet.ts";
import { type Fire, type UnderFire, underFire } from "../driver/round.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

/** What a platform sees of a receiver that goes away in good order: a refused or reset connection, never a failure. */
const RESETS = new Set(["ECONNREFUSED", "ECONNRESET", "UND_ERR_SOCKET", "EPIPE"]);

interface GoodOrder extends Pick<Round, "name" | "title" | "full" | "short">, Pick<Fire, "size" | "platform"> {
  readonly dialect: Dialect;
  readonly harm: (round: UnderFire) => Promise<void>;
}

/** What was accepted is answered, what was acknowledged is there, and the platform sees no failure. */
function inGoodOrder({ name, title, full, short, dialect, harm, ...fire }: GoodOrder): Round {
  return {
    name,
    title,
    full,
    short,
    async run(place) {
      const faults: string[] = [];
      const ran = await inParts(place, (count) =>
        place.withTarget(dialect, (target) =>
          underFire({ ...fire, target, chance: place.chance.fork() }, async (round) => {
            for (let done = 0; done < count; done += 1) await harm(round);
            faults.push(...failuresOf(round.book.answers));
          }),
        ),
      );
      return { ...ran, faults };
    },
  };
}

export const stops = (dialect: Dialect): Round =>
  inGoodOrder({
    name: `sigterm-${dialect}`,
    title: `SIGTERM under load, ${dialect}`,
    full: 50,
    short: 2,
    dialect,
    platform: { connections: 16, rate: 800 },
    async harm({ fleet, chance }) {
      await sleep(chance.between(50, 400));
      await restarted(fleet, 0);
    },
  });

const PROCESSES = 3;

/** They are replaced one after the other, as a new version is rolled out. */
export const rolling = inGoodOrder({
  name: "rolling",
  title: "rolling restarts of three processes on one PostgreSQL",
  full: 25,
  short: 1,
  dialect: "postgres",
  size: PROCESSES,
  platform: { connections: 32, rate: 600 },
  async harm({ fleet }) {
    for (let at = 0; at < PROCESSES; at += 1) await restarted(fleet, at);
  },
});

async function restarted(fleet: Fleet, at: number): Promise<void> {
  await fleet.stop(at);
  await fleet.up(at);
}

function failuresOf(answers: ReadonlyMap<string, number>): string[] {
  return [...answers]
    .filter(([what]) => !what.startsWith("200 ") && !RESETS.has(what))
    .map(([what, count]) => `${count} callbacks ended with ${what}`);
}
