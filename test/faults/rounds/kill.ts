import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Dialect } from "../../support/open-target.ts";
import { underFire } from "../driver/round.ts";
import { type KillPoint, killPoints } from "../machine/steps.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

const PRELOAD = fileURLToPath(new URL("../machine/kill-point.ts", import.meta.url));
/** Within this time a receiver under load comes to each of its steps. */
const STEP_LIMIT_MS = 120_000;
const FIRE = { platform: { connections: 16, rate: 800 } };
/** Groups set savepoints only once a member has failed after writing: at these steps the handlers fail like that. */
const SAVEPOINT_STEPS: readonly string[] = ["savepoint", "release"];
const FAILING = { LEDGER_FAILING_PERCENT: "30" };
const FAILING_AT_SAVEPOINTS = {
  ...FIRE,
  type: "ledger_shaky",
  env: { LEDGER_FAILING_PERCENT: "0" },
};

/** `kill -9` at any instant, also while the receiver starts. */
export function killAnytime(dialect: Dialect, full: number, size = 1): Round {
  const where = size === 1 ? "" : `, one of ${size} processes`;
  return {
    name: size === 1 ? `kill-${dialect}` : `kill-${dialect}-${size}`,
    title: `kill -9 at random instants, ${dialect}${where}`,
    full,
    short: 3,
    run: (place) =>
      inParts(place, async (kills) =>
        place.withTarget(dialect, (target) =>
          underFire({ ...FIRE, target, size, chance: place.chance.fork() }, async ({ fleet, chance }) => {
            for (let kill = 0; kill < kills; kill += 1) {
              await sleep(chance.between(0, 500));
              const at = chance.below(size);
              await fleet.kill(at);
              // One in five does not even come to the end of its start.
              if (chance.is(0.2)) {
                await fleet.launch(at);
                await sleep(chance.between(50, 600));
                await fleet.kill(at);
              }
              await fleet.up(at);
            }
          }),
        ),
      ),
  };
}

/** `kill -9` at each named step, in turn. */
export function killAtSteps(dialect: Dialect, full: number): Round {
  return {
    name: `steps-${dialect}`,
    title: `kill -9 at each named step, ${dialect}`,
    full,
    short: 4,
    run(place) {
      const points = killPoints(dialect);
      const start = place.chance.below(points.length);
      let next = start;
      return inParts(place, (kills) =>
        place.withTarget(dialect, (target) =>
          underFire({ ...FAILING_AT_SAVEPOINTS, target, chance: place.chance.fork() }, async ({ fleet, chance }) => {
            for (let kill = 0; kill < kills; kill += 1) {
              const point = points[next % points.length] as KillPoint;
              next += 1;
              await fleet.stop(0);
              // The first times are those of the start, before anybody has called.
              const times = chance.between(2, point.step === "checkpoint" ? 3 : 60);
              // It may come there before anybody has seen it serve.
              await fleet.launch(0, {
                ...(SAVEPOINT_STEPS.includes(point.step) ? FAILING : {}),
                NODE_OPTIONS: `--import=${PRELOAD}`,
                ONCEHOOK_KILL_AT: `${point.step}:${point.when}:${times}`,
              });
              const ending = await Promise.race([fleet.ended(0), sleep(STEP_LIMIT_MS, "never", { ref: false })]);
              if (ending !== "SIGKILL") {
                throw new Error(`${point.step}, ${point.when}, ${times} times: ended with ${ending}`);
              }
              await fleet.up(0);
            }
          }),
        ),
      );
    },
  };
}
