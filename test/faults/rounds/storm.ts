import { setTimeout as sleep } from "node:timers/promises";
import { underFire } from "../driver/round.ts";
import type { Round } from "./round.ts";

const COPIES = 5;

/** Everything at once and many times: what a platform does whose own queue has gone mad. */
export const storm: Round = {
  name: "storm",
  title: `deliveries, each event ${COPIES} times at least, 256 at a time, 3 processes on one PostgreSQL`,
  full: 1_000_000,
  short: 3_000,
  run: (place) =>
    place.withTarget("postgres", async (target) => {
      const platform = { connections: 256, copies: COPIES, redelivered: 0.05 };
      const fire = { target, chance: place.chance.fork(), size: 3, platform, settleMs: 900_000 };
      const audit = await underFire(fire, async ({ book }) => {
        // What is begun by then is delivered as often as it has to be.
        while (book.pages.length * COPIES < place.count) await sleep(20);
      });
      return { count: audit.deliveries, audits: [audit] };
    }),
};
