import type { Contender } from "../contenders/index.ts";
import { median } from "../report/summary.ts";
import type { Case, Entrant } from "./case.ts";
import type { LoadResult } from "./measure-load.ts";
import type { Measurement } from "./measurement.ts";
import { type Bench, runRound } from "./run-round.ts";

export interface Outcome {
  readonly measurements: readonly Measurement[];
  readonly versions: Readonly<Record<string, string>>;
  readonly missing: Readonly<Record<string, string>>;
}

export type Say = (line: string) => void;

/** How often a round is repeated with more events when those it had ran out. */
const MAX_TRIES = 3;

/** Every case, in alternating rounds: each round runs all contenders, so that a slow hour slows all of them. */
export async function runCases(
  bench: Bench,
  cases: readonly Case[],
  contenders: readonly Contender[],
  say: Say,
  keep: (current: Outcome) => void,
): Promise<Outcome> {
  const run = new Run(bench, say);
  for (const contender of contenders) await run.admit(contender);
  for (const spec of cases) {
    // Memory is watched once, and long.
    const times = spec.kind === "memory" ? 1 : bench.rounds;
    for (let round = 1; round <= times; round += 1) {
      for (const entrant of spec.entrants) {
        await run.round(spec, entrant, round);
      }
    }
    keep(run.outcome);
  }
  return run.outcome;
}

class Run {
  readonly #measurements: Measurement[] = [];
  readonly #versions: Record<string, string> = {};
  readonly #missing: Record<string, string> = {};
  readonly #bench: Bench;
  readonly #say: Say;
  readonly #present: Contender[] = [];
  readonly #lastRates = new Map<string, number>();

  constructor(bench: Bench, say: Say) {
    this.#bench = bench;
    this.#say = say;
  }

  get outcome(): Outcome {
    return { measurements: this.#measurements, versions: this.#versions, missing: this.#missing };
  }

  /** Takes a contender in; one that cannot run here is missing, with the reason. */
  async admit(contender: Contender): Promise<void> {
    try {
      const needsPostgres = contender.store === "postgres";
      if (needsPostgres && this.#bench.postgres === undefined) throw new Error("there is no PostgreSQL");
      this.#versions[contender.name] = `${contender.title}: ${await contender.version()}`;
      this.#present.push(contender);
    } catch (error) {
      this.#miss(contender.name, error);
    }
  }

  async round(spec: Case, entrant: Entrant, round: number): Promise<void> {
    const contender = this.#present.find(({ name }) => name === entrant.contender);
    if (contender === undefined) return;
    // An entrant that failed once in a case would fail again.
    if (this.#missing[`${entrant.label}, case ${spec.name}`] !== undefined) return;
    try {
      const rate = spec.isPaced ? await this.#halfOfBest(spec, contender) : undefined;
      const result = await this.#tryRound(spec, entrant, contender, rate);
      const measurement = { case: spec.name, entrant: entrant.label, round, ...result };
      this.#measurements.push(measurement);
      this.#say(lineOf(measurement));
    } catch (error) {
      this.#miss(`${entrant.label}, case ${spec.name}`, error);
    }
  }

  async #tryRound(spec: Case, entrant: Entrant, contender: Contender, rate: number | undefined): Promise<LoadResult> {
    const key = `${spec.name}/${entrant.label}`;
    for (let tries = 1; ; tries += 1) {
      const lastRate = this.#lastRates.get(key) ?? 0;
      const result = await runRound(this.#bench, { spec, entrant, contender, rate, lastRate });
      const ranOut = result.invalid.some((fault) => fault.startsWith("the events ran out"));
      // A rate that came of events sent again is too high, which is no harm: there will be enough.
      this.#lastRates.set(key, Math.max(lastRate, (result.rate ?? 0) * (ranOut ? 2 : 1)));
      if (!ranOut || tries === MAX_TRIES) return result;
      this.#say(`${key}: the events ran out; once more with more of them`);
    }
  }

  /** `bare` and `prototype` are paced like Oncehook on SQLite, to compare latencies at one rate. */
  async #halfOfBest(spec: Case, contender: Contender): Promise<number> {
    const receiver = this.#present.find(({ name }) => name === "oncehook-sqlite");
    const isCompared = contender.name === "bare" || contender.name === "prototype";
    const like = isCompared && receiver !== undefined ? receiver : contender;
    const rates = this.#measurements.flatMap(({ case: name, entrant, invalid, rate }) =>
      name === "fresh" && entrant === like.name && invalid.length === 0 && rate !== undefined ? [rate] : [],
    );
    const best =
      rates.length > 0
        ? median(rates)
        : (this.#lastRates.get(`best/${like.name}`) ?? (await this.#bestRate(spec, like)));
    if (best === 0) throw new Error(`there is no best rate of ${like.name} to take half of`);
    return best / 2;
  }

  /** Measured here where the case `fresh` was not part of the run. */
  async #bestRate(spec: Case, contender: Contender): Promise<number> {
    const unpaced = { ...spec, name: "best", isPaced: false };
    const entrant = {
      label: contender.name,
      contender: contender.name,
      processes: 1,
      stored: 0,
      sources: 1,
      crowd: 1,
    };
    const { rate = 0 } = await this.#tryRound(unpaced, entrant, contender, undefined);
    return rate;
  }

  #miss(name: string, error: unknown): void {
    this.#missing[name] = error instanceof Error ? error.message : String(error);
    this.#say(`${name}: missing: ${this.#missing[name]}`);
  }
}

function lineOf(measurement: Measurement): string {
  const { case: name, entrant, round, rate, cpu, databaseCpu, p50, p99, invalid } = measurement;
  const { startMs, startCpuMs, allocated } = measurement;
  const start = `ready after ${startMs?.toFixed(0)} ms, CPU ${startCpuMs?.toFixed(0)} ms`;
  const costs = [
    ...(cpu === undefined ? [] : [`CPU ${cpu.toFixed(0)} µs`]),
    ...(databaseCpu === undefined ? [] : [`database ${databaseCpu.toFixed(0)} µs`]),
    ...(allocated === undefined ? [] : [`${allocated.toFixed(1)} KiB allocated`]),
  ];
  const shown = rate === undefined ? start : [`${rate.toFixed(0)}/s`, ...costs].join("  ");
  const latency = p50 === undefined ? "" : `  p50 ${p50.toFixed(1)} ms  p99 ${p99?.toFixed(1)} ms`;
  const faults = invalid.length === 0 ? "" : `  does not count: ${invalid.join("; ")}`;
  return `${name} ${round}  ${entrant}  ${shown}${latency}${faults}`;
}
