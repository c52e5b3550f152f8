import { setTimeout as sleep } from "node:timers/promises";
import { rowsOf } from "../../support/effects.ts";
import type { Dialect } from "../../support/open-target.ts";
import { until } from "../../support/until.ts";
import { type Called, call, strayEvent } from "../driver/call.ts";
import { underFire } from "../driver/round.ts";
import type { Ran, Round } from "./round.ts";

/** What a handler does that should not, and what becomes of its event. */
interface Unruly {
  readonly name: string;
  readonly title: string;
  readonly type: string;
  /** How its callback may end; a process that ends answers nothing. */
  readonly statuses: readonly number[];
  readonly leavesEffect: boolean;
  /** Whether it takes the process down, some time after the answer. */
  readonly endsProcess?: true;
  /** How many a full run and a short one bring, where it is not the usual number. */
  readonly times?: Pick<Round, "full" | "short">;
}

const LIMIT_MS = 300;
/** More than the seconds for which a stalled process is watched, and than a start takes on a busy machine. */
const ENDING_MS = 60_000;

const UNRULY: readonly Unruly[] = [
  {
    name: "poison",
    title: "events that always fail",
    type: "ledger_poison",
    statuses: [500],
    leavesEffect: false,
  },
  {
    name: "endless",
    title: "handlers that never settle",
    type: "ledger_endless",
    statuses: [500],
    leavesEffect: false,
  },
  {
    name: "rejecting",
    title: "unawaited promises that fail",
    type: "ledger_rejecting",
    statuses: [200],
    leavesEffect: true,
  },
  {
    name: "crashing",
    title: "uncaught errors, which end the process",
    type: "ledger_crashing",
    statuses: [200],
    leavesEffect: true,
    endsProcess: true,
  },
  {
    name: "looping",
    title: "endless loops, which block the main thread",
    type: "ledger_looping",
    statuses: [200],
    leavesEffect: true,
    endsProcess: true,
    // Each costs the seconds in which the process is watched before it is ended.
    times: { full: 20, short: 1 },
  },
];

function unruly(kind: Unruly, dialect: Dialect): Round {
  return {
    name: `${kind.name}-${dialect}`,
    title: `${kind.title}, ${dialect}`,
    ...(kind.times ?? { full: 30, short: 2 }),
    run: (place) =>
      place.withTarget(dialect, async (target): Promise<Ran> => {
        const faults: string[] = [];
        const fire = {
          target,
          chance: place.chance.fork(),
          isKeptUp: true,
          env: { HANDLER_TIMEOUT_MS: String(LIMIT_MS) },
          platform: { connections: 16, rate: 200 },
        };
        const audit = await underFire(fire, async ({ fleet, chance }) => {
          const [origin = ""] = fleet.origins;
          for (let done = 0; done < place.count; done += 1) {
            await sleep(chance.between(0, 50));
            await until(() => fleet.pidIfUp(0) !== undefined, ENDING_MS);
            const pid = fleet.pidIfUp(0);
            const { status } = await sendStray(origin, strayEvent(`stray-${done}`, kind.type));
            // And not in the middle of the round's end, where nobody would start it again.
            if (kind.endsProcess) await until(() => fleet.pidIfUp(0) !== pid, ENDING_MS);
            if (!kind.statuses.includes(status)) faults.push(`stray-${done} was answered ${status}`);
          }
        });
        const effects = await rowsOf(target, STRAYS);
        const expected = kind.leavesEffect ? place.count : 0;
        if (effects.length !== expected) faults.push(`${effects.length} strays had an effect, and not ${expected}`);
        if (effects.some(({ times }) => Number(times) !== 1)) faults.push("a stray had two effects");
        return { count: place.count, audits: [audit], faults };
      }),
  };
}

const STRAYS = "SELECT times FROM ledger_effects WHERE event_id LIKE 'stray-%'";

/** Sends a stray until it is answered: the process may end under it, and comes back. */
export async function sendStray(origin: string, body: string): Promise<Called> {
  const deadline = performance.now() + ENDING_MS;
  for (;;) {
    try {
      return await call(origin, body);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

export const UNRULY_ROUNDS = UNRULY.flatMap((kind) => [unruly(kind, "sqlite"), unruly(kind, "postgres")]);
