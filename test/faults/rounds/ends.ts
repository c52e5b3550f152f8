import { rowsOf } from "../../support/effects.ts";
import type { Dialect, Target } from "../../support/open-target.ts";
import { until } from "../../support/until.ts";
import { strayEvent } from "../driver/call.ts";
import { underFire } from "../driver/round.ts";
import type { Place, Ran, Round } from "./round.ts";
import { sendStray } from "./unruly.ts";

const WAYS = ["exit", "throw", "memory", "loop"] as const;
const RETRY_MAX = 3;
/** Short limits make short leases, for which another process waits before it takes an attempt for cut off. */
const ENVIRONMENT = {
  HANDLER_TIMEOUT_MS: "300",
  REQUEST_TIMEOUT_MS: "1000",
  RETRY_MAX: String(RETRY_MAX),
  RETRY_DELAY_SECONDS: "0.2",
  NODE_OPTIONS: "--max-old-space-size=160",
};
const BESIDE = 5;
/** For one event in all: three ends, each with a lease, a start and, of a loop, the seconds in which it is watched. */
const LIMIT_MS = 60_000;

/** Events whose every retry ends the process, with failures beside them that a retry heals, and callbacks all the time. */
export function ends(dialect: Dialect, sizes: readonly number[]): Round {
  return {
    name: `ends-${dialect}`,
    title: `events that end the process at each retry, ${dialect}${sizes.length > 1 ? ", one process and two" : ""}`,
    full: 12 * sizes.length,
    short: 1,
    async run(place) {
      const parts: Ran[] = [];
      const each = Math.ceil(place.count / sizes.length);
      // A short run has the first size only.
      for (let left = place.count, at = 0; left > 0; left -= each, at += 1)
        parts.push(await part(place, dialect, sizes[at] ?? 1, Math.min(left, each)));
      return {
        count: place.count,
        audits: parts.flatMap(({ audits }) => audits),
        faults: parts.flatMap(({ faults = [] }) => faults),
        figures: Object.assign({}, ...parts.map(({ figures }) => figures)),
      };
    },
  };
}

function part(place: Place, dialect: Dialect, size: number, count: number): Promise<Ran> {
  return place.withTarget(dialect, async (target): Promise<Ran> => {
    const faults: string[] = [];
    let ended = 0;
    let healed = 0;
    const first = place.chance.below(WAYS.length - 1);
    const fire = {
      target,
      size,
      chance: place.chance.fork(),
      isKeptUp: true,
      env: ENVIRONMENT,
      platform: { connections: 8, rate: 50 },
      settleMs: LIMIT_MS,
    };
    const audit = await underFire(fire, async ({ fleet }) => {
      const [origin = ""] = fleet.origins;
      const begun = performance.now();
      const ids = Array.from({ length: count }, (_, at) => `stray-${WAYS[(first + at) % WAYS.length]}-${at}`);
      const beside = Array.from({ length: BESIDE }, (_, at) => `stray-healed-${at}`);
      for (const id of [...ids, ...beside]) {
        const { status } = await sendStray(origin, strayEvent(id, "ledger_fatal"));
        // On a busy machine its process may end before it answers, and a retry heals it before it is sent again.
        const isHealed = status === 200 && beside.includes(id);
        if (status !== 500 && !isHealed) faults.push(`${id} was answered ${status}`);
      }
      await until(
        lookedAt(async () => (await healedOf(target)) === BESIDE),
        LIMIT_MS,
      );
      healed = performance.now() - begun;
      await until(
        lookedAt(async () => (await exhausted(target)).length === count),
        LIMIT_MS * count,
      );
      ended = fleet.ends;
    });
    const rows = await exhausted(target);
    for (const { event_id, code, retries_done, attempts } of rows) {
      const found = `${code}, ${retries_done} retries, ${attempts} attempts`;
      if (code !== "process_ended" || Number(retries_done) !== RETRY_MAX || Number(attempts) > RETRY_MAX + 2)
        faults.push(`${event_id} was exhausted with ${found}`);
    }
    // Good callbacks are cut off once for each attempt at the most.
    const attempts = rows.reduce((sum, row) => sum + Number(row.attempts) - 1, 0);
    if (ended > attempts) faults.push(`${ended} process ends for ${attempts} attempts`);
    const of = size === 1 ? "" : `, ${size} processes`;
    const figures = {
      [`process ends${of}`]: ended,
      [`attempts${of}`]: attempts,
      [`ms until those beside healed${of}`]: Math.round(healed),
    };
    return { count, audits: [audit], faults, figures };
  });
}

/** A database that a process just opens may be locked for a moment. */
const lookedAt = (look: () => Promise<boolean>) => () => look().catch(() => false);

const exhausted = (target: Target) =>
  rowsOf(target, "SELECT * FROM oncehook_failures WHERE state = 'exhausted' AND event_id LIKE 'stray-%'");

async function healedOf(target: Target): Promise<number> {
  const rows = await rowsOf(target, "SELECT times FROM ledger_effects WHERE event_id LIKE 'stray-healed-%'");
  return rows.filter(({ times }) => Number(times) === 1).length;
}
