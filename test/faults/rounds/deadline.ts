import { setTimeout as sleep } from "node:timers/promises";
import { countOf } from "../../support/effects.ts";
import type { Dialect, Target } from "../../support/open-target.ts";
import { SECRET } from "../../support/secrets.ts";
import { until } from "../../support/until.ts";
import { audit } from "../driver/audit.ts";
import { startBalancer } from "../driver/balancer.ts";
import { Book } from "../driver/book.ts";
import type { Chance } from "../driver/chance.ts";
import { Fleet } from "../driver/fleet.ts";
import { StrictPlatform } from "../driver/strict-platform.ts";
import { shop } from "../ledger/sources.ts";
import type { Place, Ran, Round } from "./round.ts";

interface Timing {
  /** The handler's outside work, in `prepare`. */
  readonly handlerMs: number;
  readonly deadlineMs: number;
  /** The receiver answers by then, with the answer mode `within`. */
  readonly withinMs: number;
  /** From one new event to the next. */
  readonly everyMs: number;
  readonly kills: number;
  /** At most so long a service manager takes to start a process again. */
  readonly downMs: number;
  readonly env: Record<string, string>;
}

/** The receiver's limits are its defaults. 32 handlers of 8 s at a time are 4 events a second. */
const FULL: Timing = {
  handlerMs: 8_000,
  deadlineMs: 3_000,
  withinMs: 1_000,
  everyMs: 200,
  kills: 4,
  downMs: 1_000,
  env: { RETRY_DELAY_SECONDS: "60" },
};
/** A quarter of it, for a run with few events; shorter limits make shorter leases, for which survivors wait. */
const SHORT: Timing = {
  handlerMs: 2_000,
  deadlineMs: 750,
  withinMs: 250,
  everyMs: 75,
  kills: 2,
  downMs: 250,
  env: { HANDLER_TIMEOUT_MS: "2300", REQUEST_TIMEOUT_MS: "2500" },
};
const FULL_EVENTS = 1_000;
const DISABLED_AFTER = 5;
/** The schedule of minutes and hours that platforms publish, in seconds. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000] as const;
/** For what killed processes have left: their leases, and the outside work once more. */
const SETTLING_MS = 180_000;

interface Deployment {
  readonly name: string;
  readonly dialect: Dialect;
  readonly answer: "after" | "within";
  readonly processes: number;
  readonly queues: number;
}

/**
 * A platform cuts each delivery at its deadline and disables the endpoint after five failed ones in a row, while handlers
 * take longer than that and processes are killed. The endpoint must stay enabled, and each event have one effect.
 */
function deadline({ name, dialect, answer, processes, queues }: Deployment): Round {
  const where = processes === 1 ? dialect : `${processes} processes on one ${dialect}`;
  return {
    name,
    title: `events of a platform with a deadline, slow handlers, kill -9, answer ${answer}, ${where}`,
    full: FULL_EVENTS,
    short: 40,
    run: (place) =>
      place.withTarget(dialect, async (target): Promise<Ran> => {
        const timing = place.count < FULL_EVENTS ? SHORT : FULL;
        const mode = answer === "after" ? "after" : `${timing.withinMs}ms`;
        const env = { ...timing.env, LEDGER_OUTSIDE_MS: String(timing.handlerMs), LEDGER_SHOP_ANSWER: mode };
        const fleet = await Fleet.start(target, { size: processes, env });
        const balancer = await startBalancer(fleet.origins);
        try {
          const address = new URL("/api/shop/callback", balancer.origin);
          return await delivered({ place, target, fleet, timing, address, mode, queues });
        } finally {
          await balancer.stop();
          await fleet.destroy();
        }
      }),
  };
}

interface Run {
  readonly place: Place;
  readonly target: Target;
  readonly fleet: Fleet;
  readonly timing: Timing;
  readonly address: URL;
  /** The answer mode, as the receiver's configuration reads it. */
  readonly mode: string;
  readonly queues: number;
}

async function delivered({ place, target, fleet, timing, address, mode, queues }: Run): Promise<Ran> {
  const { deadlineMs, everyMs, kills } = timing;
  const chance = place.chance.fork();
  const book = new Book(`e${chance.below(1e9).toString(36)}`, "ledger_outside", SECRET, {
    mayBeAccepted: true,
  });
  const rules = { deadlineMs, retryMs: RETRY_MS, everyMs, queues, disabledAfter: DISABLED_AFTER };
  const platform = new StrictPlatform(address, shop(mode), book, rules);
  const begun = performance.now();
  let isBroken = false;
  const sending = platform.run(place.count).catch((error: unknown) => {
    isBroken = true;
    throw error;
  });
  const killing = killAmong({ fleet, book, chance, timing, events: place.count, isBroken: () => isBroken });
  // Nothing starts a process behind the back of who ends them all.
  await Promise.allSettled([sending, killing]);
  await Promise.all([sending, killing]);
  const sentMs = performance.now() - begun;
  await until(async () => (await effectsIn(target)) === place.count, SETTLING_MS);
  const settledMs = performance.now() - begun;
  await until(async () => (await countOf(target, "oncehook_failures")) === 0);
  await fleet.stopAll();
  const { failed, mostInARow, longestMs } = platform.seen;
  return {
    count: place.count,
    audits: [await audit(target, book)],
    figures: {
      kills,
      "failed deliveries": failed,
      "failures in a row at most": mostInARow,
      "longest delivery in ms": Math.round(longestMs),
      "s until all were delivered": (sentMs / 1_000).toFixed(1),
      "s until all were handled": (settledMs / 1_000).toFixed(1),
    },
  };
}

/** A database that a process just opens may be locked for a moment. */
const effectsIn = (target: Target) => countOf(target, "ledger_effects").catch(() => 0);

interface Killing {
  readonly fleet: Fleet;
  readonly book: Book;
  readonly chance: Chance;
  readonly timing: Timing;
  readonly events: number;
  readonly isBroken: () => boolean;
}

/** One process after the other, at random instants spread over the events; each is back before the next one goes. */
async function killAmong({ fleet, book, chance, timing, events, isBroken }: Killing): Promise<void> {
  const part = events / timing.kills;
  for (let kill = 0; kill < timing.kills; kill += 1) {
    const when = Math.floor(part * (kill + 0.2 + 0.6 * chance.next()));
    await until(() => book.acknowledged >= when || isBroken(), SETTLING_MS);
    if (isBroken()) return;
    const at = chance.below(fleet.origins.length);
    await fleet.kill(at);
    await sleep(chance.between(0, timing.downMs));
    await fleet.up(at);
  }
}

/**
 * Two processes on one PostgreSQL behind a balancer: while one is killed, the other one answers. SQLite has one process,
 * and whatever is sent while that one starts again has failed; so the platform of that round delivers in order, and
 * retries the event at the head of its queue before it sends another. A platform that goes on with others would count
 * more than five failures within such a second.
 */
export const DEADLINE_ROUNDS = [
  deadline({ name: "deadline-within", dialect: "postgres", answer: "within", processes: 2, queues: 32 }),
  deadline({ name: "deadline-after", dialect: "postgres", answer: "after", processes: 2, queues: 32 }),
  deadline({ name: "deadline-sqlite", dialect: "sqlite", answer: "after", processes: 1, queues: 1 }),
];
