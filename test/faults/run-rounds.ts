import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dialect, Target } from "../support/open-target.ts";
import { Chance } from "./driver/chance.ts";
import { PostgresCluster } from "./machine/postgres-cluster.ts";
import { ROUNDS } from "./rounds/index.ts";
import { NotRun, type Place, type Ran, type Round } from "./rounds/round.ts";

export interface Asked {
  readonly names: readonly string[];
  readonly seed: number;
  readonly isShort: boolean;
  /** Instead of what a short or full run brings. */
  readonly times?: number | undefined;
  readonly say: (line: string) => void;
  /** Told of each round when it has ended: a full run takes hours, and may be cut short. */
  readonly told?: (ended: Ended) => void;
}

export const NOT_ASKED = "not asked for";

/** How one round ended. */
export interface Ended {
  readonly round: Round;
  readonly ran?: Ran;
  readonly seconds: number;
  /** Why it was not run, where it was not. */
  readonly notRun?: string;
  /** Everything that went wrong, in words. */
  readonly faults: readonly string[];
  /** Undefined where it was not run. */
  readonly isRight: boolean | undefined;
}

/** Runs rounds one after the other; each is judged by itself, and a failed one keeps none of the others from running. */
export async function runRounds({ names, seed, isShort, times, say, told }: Asked): Promise<Ended[]> {
  const machine = new Machine();
  const ended: Ended[] = [];
  try {
    for (const [index, round] of ROUNDS.entries()) {
      if (!names.includes(round.name)) {
        ended.push({ round, seconds: 0, notRun: NOT_ASKED, faults: [], isRight: undefined });
        continue;
      }
      const count = times ?? (isShort ? round.short : round.full);
      say(`${round.name}: ${round.title}, ${count} times`);
      // A round's chance is its own: it does not depend on which others were asked for.
      const place = machine.place(new Chance(seed + index * 7_919), count, (line) => say(`  ${line}`));
      const end = await runOne(round, place);
      for (const fault of end.faults) say(`  WRONG: ${fault}`);
      ended.push(end);
      told?.(end);
    }
  } finally {
    await machine.destroy();
  }
  return ended;
}

async function runOne(round: Round, place: Place): Promise<Ended> {
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  try {
    const ran = await round.run(place);
    const faults = [...ran.audits.flatMap(({ faults }) => faults), ...(ran.faults ?? [])];
    if (ran.count < place.count) faults.push(`only ${ran.count} of ${place.count}`);
    return { round, ran, seconds: seconds(), faults, isRight: faults.length === 0 };
  } catch (error) {
    if (error instanceof NotRun) {
      return { round, seconds: seconds(), notRun: error.message, faults: [], isRight: undefined };
    }
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { round, seconds: seconds(), faults: [said], isRight: false };
  }
}

/** What rounds share, made when the first of them asks for it. */
class Machine {
  #postgres: Promise<PostgresCluster> | undefined;
  #databases = 0;

  place(chance: Chance, count: number, say: (line: string) => void): Place {
    return {
      chance,
      count,
      say,
      postgres: () => this.#server(),
      withTarget: (dialect, use) => this.#withTarget(dialect, use),
    };
  }

  async destroy(): Promise<void> {
    await (await this.#postgres)?.destroy();
  }

  #server(): Promise<PostgresCluster> {
    this.#postgres ??= PostgresCluster.create();
    return this.#postgres;
  }

  async #withTarget<T>(dialect: Dialect, use: (target: Target) => Promise<T>): Promise<T> {
    if (dialect === "sqlite") {
      const folder = await mkdtemp(join(tmpdir(), "oncehook-faults-"));
      try {
        return await use({ dialect, url: `sqlite:${join(folder, "oncehook.db")}` });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
    const server = await this.#server();
    this.#databases += 1;
    const name = `faults_${this.#databases}`;
    await server.query(`CREATE DATABASE ${name}`);
    try {
      return await use({ dialect, url: server.url(name) });
    } finally {
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  }
}
