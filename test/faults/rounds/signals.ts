import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../support/open-target.ts";
import { underFire } from "../driver/round.ts";
import { inParts } from "./kill.ts";
import type { Round } from "./round.ts";

/** What a platform sees of a receiver that goes away in good order: a refused or reset connection, never a failure. */
const RESETS = new Set(["ECONNREFUSED", "ECONNRESET", "UND_ERR_SOCKET", "EPIPE"]);

/** SIGTERM under load: what was accepted is answered, what was acknowledged is there. */
export const stops = (dialect: Dialect): Round => ({
  name: `sigterm-${dialect}`,
  title: `SIGTERM under load, ${dialect}`,
  full: 100,
  short: 2,
  run: async (place) => {
    const faults: string[] = [];
    const ran = await inParts(place, (count) =>
      place.withTarget(dialect, (target) =>
        underFire(
          { target, chance: place.chance.fork(), platform: { connections: 16, rate: 800 } },
          async ({ fleet, chance, book }) => {
            for (let done = 0; done < count; done += 1) {
              await sleep(chance.between(50, 400));
              await fleet.stop(0);
              await fleet.up(0);
            }
            faults.push(...failuresOf(book.answers));
          },
        ),
      ),
    );
    return { ...ran, faults };
  },
});

/** Three processes are replaced one after the other, as a new version is rolled out. */
export const rolling: Round = {
  name: "rolling",
  title: "rolling restarts of three processes on one PostgreSQL",
  full: 50,
  short: 1,
  run: async (place) => {
    const faults: string[] = [];
    const ran = await inParts(place, (count) =>
      place.withTarget("postgres", (target) =>
        underFire(
          { target, chance: place.chance.fork(), size: 3, platform: { connections: 32, rate: 600 } },
          async ({ fleet, book }) => {
            for (let done = 0; done < count; done += 1) {
              for (let at = 0; at < 3; at += 1) {
                await fleet.stop(at);
                await fleet.up(at);
              }
            }
            faults.push(...failuresOf(book.answers));
          },
        ),
      ),
    );
    return { ...ran, faults };
  },
};

function failuresOf(answers: ReadonlyMap<string, number>): string[] {
  return [...answers]
    .filter(([what]) => !what.startsWith("200 ") && !RESETS.has(what))
    .map(([what, count]) => `${count} callbacks ended with ${what}`);
}
