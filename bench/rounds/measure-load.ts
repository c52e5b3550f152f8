import { join } from "node:path";
import type { Contender, Place, Serving } from "../contenders/index.ts";
import { type Event, signedEvent, writeEventFile } from "../load/event-file.ts";
import { probe, send } from "../load/probe.ts";
import { type Load, together, wrk } from "../load/wrk.ts";
import { cpuSeconds, memoryMb, processTree } from "../machine/process-tree.ts";
import { percentile } from "../report/summary.ts";
import type { Case } from "./case.ts";
import { answered, faultsOf, paceFaults } from "./judge.ts";
import type { Measurement } from "./measurement.ts";

export interface LoadPlan {
  readonly spec: Case;
  readonly contender: Contender;
  readonly place: Place;
  readonly seconds: number;
  readonly connections: number;
  readonly rate: number | undefined;
  /** Callbacks a second that the last round took, 0 before the first. */
  readonly lastRate: number;
  readonly databasePid: number | undefined;
}

export type LoadResult = Omit<Measurement, "case" | "entrant" | "round">;

/** Enough and to spare, so that a round that is faster than the last one does not run out of events. */
const SPARE = 1.5;
/** Where no event is stored, one that comes again costs the same as a new one. */
const ENOUGH_UNSTORED = 50_000;
const WARM_UP_EVENTS = 20_000;

/** Warms a server up, loads it, and tells what came of it. */
export async function measureLoad(plan: LoadPlan, serving: Serving): Promise<LoadResult> {
  const { spec, contender, place, seconds, databasePid } = plan;
  const again = spec.traffic === "duplicates" ? await sendOnce(serving) : undefined;
  const warm = await drive(plan, serving, warmUpSeconds(seconds), WARM_UP_EVENTS, again);
  const needed = Math.ceil(Math.max(plan.lastRate, warm.requests / warm.seconds) * SPARE * seconds) + 1_000;
  const isStored = contender.store !== "none" && spec.traffic !== "bad-signatures";
  const count = isStored ? needed : Math.min(needed, ENOUGH_UNSTORED);

  const roots = serving.servers.map(({ pid }) => pid);
  const before = cpuOf(roots, databasePid);
  const over = new AbortController();
  const [url = ""] = serving.urls;
  const probing = spec.mayRefuse ? probe(url, over.signal) : Promise.resolve([]);
  const load = await drive(plan, serving, seconds, count, again, spec.mayRefuse).finally(() => over.abort());
  const probed = await probing;
  const after = cpuOf(roots, databasePid);
  const memory = roots.length > 0 ? memoryMb(processTree(roots)) : {};

  const callbacks = answered(load, spec);
  const perCallback = (spent: number) => (spent / Math.max(1, callbacks + probed.length)) * 1e6;
  const usesDatabase = databasePid !== undefined && contender.store === "postgres";
  return {
    invalid: [...faultsOf(load, spec, isStored && again === undefined), ...paceFaults(load, plan.rate)],
    rate: (callbacks + probed.length) / load.seconds,
    requests: load.requests,
    ...latenciesOf(load, probed),
    ...(spec.mayRefuse && { refusedRate: load.unavailable / load.seconds }),
    ...(roots.length > 0 && { cpu: perCallback(after.servers - before.servers) }),
    ...(usesDatabase && { databaseCpu: perCallback(after.database - before.database) }),
    ...memory,
    ...startOf(serving),
  };

  function cpuOf(pids: readonly number[], database: number | undefined) {
    const spent = (of: readonly number[]) => cpuSeconds(processTree(of));
    return {
      servers: spent(pids),
      database: database === undefined ? 0 : spent([database]),
    };
  }

  async function drive(
    { rate, connections }: LoadPlan,
    { urls }: Serving,
    length: number,
    events: number,
    event: Event | undefined,
    countsStatuses = false,
  ): Promise<Load> {
    if (contender.drive !== undefined) return contender.drive(place, { seconds: length, connections });
    const share = (whole: number) => Math.max(1, Math.ceil(whole / urls.length));
    const runs = urls.map((address, at) => {
      const file = join(place.folder, `events-${at}`);
      writeEventFile(file, spec.traffic, share(events), event);
      return {
        url: address,
        events: file,
        connections: share(connections),
        seconds: length,
        isIdempotent: contender.isIdempotent,
        rate: rate === undefined ? undefined : rate / urls.length,
        countsStatuses,
      };
    });
    return together(await Promise.all(runs.map(wrk)));
  }
}

function warmUpSeconds(seconds: number): number {
  return Math.min(3, Math.max(1, Math.round(seconds / 4)));
}

async function sendOnce({ urls }: Serving): Promise<Event> {
  const event = signedEvent();
  const status = await send(urls[0] ?? "", event);
  if (status !== 200) throw new Error(`the first delivery was answered ${status}`);
  return event;
}

/** wrk's own, unless some were turned away, whose quick answers would be taken for quick callbacks. */
function latenciesOf(load: Load, probed: number[]): Pick<Load, "p50" | "p99" | "p999"> {
  const { p50, p99, p999 } = load;
  if (load.unavailable === 0) return { p50, p99, p999 };
  const at = (percent: number) => percentile(probed, percent);
  return { p50: at(50), p99: at(99), p999: at(99.9) };
}

/** Of several servers the slowest start counts, and all their CPU time. */
export function startOf({ servers }: Serving): Pick<Measurement, "startMs" | "startCpuMs"> {
  if (servers.length === 0) return {};
  return {
    startMs: Math.max(...servers.map(({ startMs }) => startMs)),
    startCpuMs: servers.reduce((sum, { startCpuMs }) => sum + startCpuMs, 0),
  };
}
