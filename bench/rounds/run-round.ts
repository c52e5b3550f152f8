import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Contender, Place, Serving } from "../contenders/index.ts";
import type { Postgres } from "../machine/postgres.ts";
import { memoryMb, processTree } from "../machine/process-tree.ts";
import { TRACE_OPTIONS } from "./allocation.ts";
import type { Case, Entrant } from "./case.ts";
import { type LoadResult, measureLoad, startOf } from "./measure-load.ts";
import { preload } from "./preload.ts";
import { growthOf, watchMemory } from "./watch-memory.ts";

/** What all rounds of a run have in common. */
export interface Bench {
  readonly folder: string;
  readonly postgres: Postgres | undefined;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly memorySeconds: number;
  readonly connections: number;
}

export interface Round {
  readonly spec: Case;
  readonly entrant: Entrant;
  readonly contender: Contender;
  readonly rate: number | undefined;
  readonly lastRate: number;
}

/** Databases with events stored before are made once and serve every round; all others are made for a round. */
const kept = new Map<string, Place>();
let places = 0;

/** Starts the server afresh, measures it, and takes everything away again. */
export async function runRound(bench: Bench, round: Round): Promise<LoadResult> {
  const place = await placeFor(bench, round);
  try {
    const serving = await round.contender.start(place);
    try {
      return await measure(bench, round, place, serving);
    } finally {
      await serving.stop();
    }
  } finally {
    if (round.entrant.stored === 0) await clear(bench, place);
  }
}

async function measure(bench: Bench, round: Round, place: Place, serving: Serving): Promise<LoadResult> {
  const { spec, contender, entrant } = round;
  const roots = serving.servers.map(({ pid }) => pid);
  if (spec.kind === "startup") return { invalid: [], ...startOf(serving), ...memoryMb(processTree(roots)) };
  const watch = watchMemory(spec.kind === "memory" ? roots : []);
  const result = await measureLoad(
    {
      ...round,
      place,
      contender,
      seconds: spec.kind === "memory" ? bench.memorySeconds : bench.seconds,
      warmUpSeconds: bench.warmUpSeconds,
      connections: bench.connections * entrant.crowd,
      databasePid: bench.postgres?.pid,
    },
    serving,
  ).finally(() => watch.end());
  if (spec.kind !== "memory") return result;
  const rssBySecond = watch.end();
  return { ...result, rssBySecond, rssGrowth: growthOf(rssBySecond) };
}

async function placeFor(bench: Bench, { spec, entrant, contender }: Round): Promise<Place> {
  const known = kept.get(entrant.label);
  if (known !== undefined) return known;
  places += 1;
  const folder = join(bench.folder, `round-${places}`);
  mkdirSync(folder);
  const needsDatabase = contender.store === "postgres" && bench.postgres !== undefined;
  const databaseUrl = needsDatabase ? await bench.postgres.createDatabase(`bench_${places}`) : "";
  const nodeOptions = spec.kind === "allocation" ? TRACE_OPTIONS : [];
  const { processes, sources } = entrant;
  const place = { folder, databaseUrl, processes, sources, isSlow: spec.isSlow, nodeOptions };
  if (entrant.stored === 0) return place;
  await contender.start(place).then((serving) => serving.stop());
  await preload(folder, databaseUrl, entrant.stored);
  kept.set(entrant.label, place);
  return place;
}

async function clear(bench: Bench, { folder, databaseUrl }: Place): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  if (databaseUrl !== "") await bench.postgres?.dropDatabase(databaseUrl.split("/").at(-1) ?? "");
}
