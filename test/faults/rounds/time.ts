import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Dialect } from "../../support/open-target.ts";
import { underFire } from "../driver/round.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

const CLOCK = fileURLToPath(new URL("../machine/jumping-clock.ts", import.meta.url));
const PLATFORM = { connections: 16, rate: 200 };
/** Short limits make short leases: each outlives the longest possible run. */
const HASTE = { HANDLER_TIMEOUT_MS: "300", REQUEST_TIMEOUT_MS: "2000", LEDGER_FAILING_PERCENT: "50" };

/** Clocks that jump while events fail and are retried: times are written and compared everywhere in between. */
export const clocks = (dialect: Dialect): Round => ({
  name: `clock-${dialect}`,
  title: `jumps of the clock by up to a day, ${dialect}`,
  full: 50,
  short: 3,
  run: (place) =>
    inParts(place, (count) =>
      place.withTarget(dialect, (target) =>
        underFire(
          {
            target,
            chance: place.chance.fork(),
            type: "ledger_shaky",
            size: dialect === "sqlite" ? 1 : 2,
            env: { ...HASTE, NODE_OPTIONS: `--import=${CLOCK}` },
            platform: PLATFORM,
          },
          async ({ fleet, chance }) => {
            for (let done = 0; done < count; done += 1) {
              await sleep(chance.between(50, 400));
              const at = dialect === "sqlite" ? 0 : chance.below(2);
              process.kill(fleet.pid(at), "SIGUSR2");
            }
          },
        ),
      ),
    ),
});

/** A process is halted for longer than its leases live, others take its work over, and it goes on as if nothing were. */
export const halts: Round = {
  name: "halt",
  title: "processes halted beyond their leases, and woken again; three on one PostgreSQL",
  full: 50,
  short: 1,
  run: (place) =>
    inParts(place, (count) =>
      place.withTarget("postgres", (target) =>
        underFire(
          {
            target,
            chance: place.chance.fork(),
            type: "ledger_shaky",
            size: 3,
            env: HASTE,
            platform: PLATFORM,
          },
          async ({ fleet, chance }) => {
            for (let done = 0; done < count; done += 1) {
              await sleep(chance.between(100, 600));
              const pid = fleet.pid(chance.below(3));
              process.kill(pid, "SIGSTOP");
              await sleep(chance.between(500, 6_000));
              process.kill(pid, "SIGCONT");
            }
          },
        ),
      ),
    ),
};
