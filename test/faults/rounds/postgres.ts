import { setTimeout as sleep } from "node:timers/promises";
import { rowsOf } from "../../support/effects.ts";
import { type Wire, withWire } from "../../support/wire.ts";
import { type Fire, type UnderFire, underFire } from "../driver/round.ts";
import { inParts } from "./in-parts.ts";
import type { Place, Round } from "./round.ts";

const FIRE = { size: 2, platform: { connections: 32, rate: 800 } };

interface Harm {
  readonly name: string;
  readonly title: string;
  readonly full: number;
  readonly short: number;
  readonly type?: string;
  /** Once before the harm, with the fleet under fire. */
  readonly harm: (round: UnderFire & { readonly wire: Wire; readonly place: Place }) => Promise<void>;
}

/** A round behind a wire: what the receivers take for the database is the round's own. */
function behindWire({ name, title, full, short, type, harm }: Harm): Round {
  return {
    name,
    title,
    full,
    short,
    run: (place) =>
      inParts(place, (count) =>
        place.withTarget("postgres", (target) =>
          withWire(target.url, (wire) => {
            const fire: Fire = {
              ...FIRE,
              target: { dialect: "postgres", url: wire.through(target.url) },
              chance: place.chance.fork(),
              ...(type !== undefined && { type }),
            };
            return underFire(fire, async (round) => {
              for (let done = 0; done < count; done += 1) {
                await sleep(round.chance.between(0, 300));
                await harm({ ...round, wire, place });
              }
            });
          }),
        ),
      ),
  };
}

/** PostgreSQL is stopped as a power failure would, and recovers. */
const restarts = behindWire({
  name: "postgres-restart",
  title: "PostgreSQL stopped at once and started again",
  full: 200,
  short: 2,
  async harm({ place, chance }) {
    const server = await place.postgres();
    await server.stop("immediate");
    await sleep(chance.between(0, 500));
    await server.start();
  },
});

/** Sessions end as an administrator ends them, or the server when it shuts down. */
const terminated = behindWire({
  name: "postgres-terminate",
  title: "sessions of PostgreSQL terminated",
  full: 200,
  short: 5,
  async harm({ place, chance }) {
    const server = await place.postgres();
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < ${chance.between(5, 100) / 100}`;
    // At least one, or nothing was brought about.
    while ((await server.query(terminate)).length === 0) await sleep(5);
  },
});

const cuts = behindWire({
  name: "postgres-cut",
  title: "connections to PostgreSQL cut, half of them on one side only",
  full: 200,
  short: 5,
  async harm({ wire, chance }) {
    if (chance.is(0.5)) wire.cutAll();
    else wire.halfClose();
    if (chance.is(0.3)) {
      wire.delay(chance.between(1, 50));
      await sleep(200);
      wire.delay(0);
    }
  },
});

const swallowed = behindWire({
  name: "postgres-swallowed",
  title: "answers of COMMIT swallowed",
  full: 200,
  short: 5,
  async harm({ wire }) {
    const before = wire.swallowed;
    wire.loseNext("answer");
    const end = performance.now() + 20_000;
    while (wire.swallowed === before) {
      if (performance.now() > end) throw new Error("no COMMIT came by");
      await sleep(5);
    }
  },
});

/** Events that want the same rows in either order, in two processes: what the database takes back runs again. */
const conflicts: Round = {
  name: "postgres-conflicts",
  title: "spans of two seconds with events in deadlock, or that cannot be serialized",
  full: 20,
  short: 1,
  async run(place) {
    let undone = 0;
    const ran = await inParts(place, (count) =>
      place.withTarget("postgres", async (target) => {
        const type = place.chance.pick(["ledger_transfer", "ledger_serial"]);
        const url = new URL(target.url);
        if (type === "ledger_serial") url.searchParams.set("options", "-c default_transaction_isolation=serializable");
        const fire: Fire = {
          ...FIRE,
          type,
          target: { ...target, url: url.href },
          chance: place.chance.fork(),
        };
        const audit = await underFire(fire, () => sleep(count * 2_000));
        undone += Number((await rowsOf(target, UNDONE))[0]?.undone);
        return audit;
      }),
    );
    // A round without a conflict has shown nothing.
    return {
      ...ran,
      figures: { "transactions undone": undone },
      faults: undone > 0 ? [] : ["there was no conflict"],
    };
  },
};
const UNDONE = "SELECT deadlocks + xact_rollback AS undone FROM pg_stat_database WHERE datname = current_database()";

export const POSTGRES_ROUNDS = [restarts, terminated, cuts, swallowed, conflicts];
