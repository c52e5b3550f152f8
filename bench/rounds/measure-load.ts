import { join } from "node:path";
import type { Contender, Place, Serving } from "../contenders/index.ts";
import { type Event, signedEvent, writeEventFile } from "../load/event-file.ts";
import { probe, send } from "../load/probe.ts";
import { type Load, together, wrk } from "../load/wrk.ts";
import { cpuSeconds, memoryMb, processTree } from "../machine/process-tree.ts";
import { percentile } from "../report/summary.ts";
import { allocatedBytes } from "./allocation.ts";
import type { Case } from "./case.ts";
import { answered, faultsOf, paceFaults } from "./judge.ts";
import type { Measurement } from "./measurement.ts";

export interface LoadPlan {
  readonly spec: Case;
  readonly contender: Contender;
  readonly place: Place;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  readonly rate: number | undefined;
  /** Callbacks a second that the last round took, 0 before the first. */
  readonly lastRate: number;
  readonly databasePid: number | undefined;
}

export type LoadResult = Omit<Measurement, "case" | "entrant" | "round">;

/** So many times the events that the last round took, for one that is faster. */
const SPARE = 1.5;
/** Where no event is stored, one that comes again costs the same as a new one. */
const ENOUGH_UNSTORED = 50_000;
const FIRST_EVENTS = 20_000;
const FIRST_SECONDS = 1;

/** Warms a server up, loads it, and returns what was measured. */
export async function measureLoad(plan: LoadPlan, serving: Serving): Promise<LoadResult> {
  const { spec, seconds } = plan;
  const again = spec.traffic === "duplicates" ? await sendOnce(serving) : undefined;
  const warmRate = await warmUp(plan, serving, again);
  const events = eventsFor(plan, Math.max(plan.lastRate, warmRate), seconds);

  const before = spent(plan, serving);
  const over = new AbortController();
  const [url = ""] = serving.urls;
  const probing = spec.mayRefuse ? probe(url, over.signal) : Promise.resolve([]);
  const load = await drive(plan, serving, { seconds, events, again, countsStatuses: spec.mayRefuse }).finally(() =>
    over.abort(),
  );
  const probed = await probing;
  const after = spent(plan, serving);

  const callbacks = answered(load, spec) + probed.length;
  const roots = serving.servers.map(({ pid }) => pid);
  return {
    invalid: [...faultsOf(load, spec, isStored(plan) && again === undefined), ...paceFaults(load, plan.rate)],
    rate: callbacks / load.seconds,
    requests: load.requests,
    ...latenciesOf(load, probed),
    ...(spec.mayRefuse && { refusedRate: load.unavailable / load.seconds }),
    ...costsOf(before, after, callbacks),
    ...(roots.length > 0 ? memoryMb(processTree(roots)) : {}),
    ...startOf(serving),
  };
}

function isStored({ contender, spec }: LoadPlan): boolean {
  return contender.store !== "none" && spec.traffic !== "bad-signatures";
}

function eventsFor(plan: LoadPlan, rate: number, seconds: number): number {
  const needed = Math.ceil(rate * SPARE * seconds) + 1_000;
  return isStored(plan) ? needed : Math.min(needed, ENOUGH_UNSTORED);
}

/** In two parts: the first second shows the rate, so that the rest has events enough. @returns callbacks a second */
async function warmUp(plan: LoadPlan, serving: Serving, again: Event | undefined): Promise<number> {
  const first = await drive(plan, serving, { seconds: FIRST_SECONDS, events: FIRST_EVENTS, again });
  const rate = first.requests / first.seconds;
  const seconds = plan.warmUpSeconds - FIRST_SECONDS;
  if (seconds <= 0) return rate;
  const rest = await drive(plan, serving, { seconds, events: eventsFor(plan, rate, seconds), again });
  return Math.max(rate, rest.requests / rest.seconds);
}

interface Drive {
  readonly seconds: number;
  readonly events: number;
  /** The one event of `duplicates`. */
  readonly again: Event | undefined;
  readonly countsStatuses?: boolean;
}

async function drive(plan: LoadPlan, { urls }: Serving, load: Drive): Promise<Load> {
  const { contender, place, connections, rate, spec } = plan;
  const { seconds, events, again, countsStatuses = false } = load;
  if (contender.drive !== undefined) return contender.drive(place, { seconds, connections });
  const share = (whole: number) => Math.max(1, Math.ceil(whole / urls.length));
  const runs = urls.map((address, at) => {
    const file = join(place.folder, `events-${at}`);
    writeEventFile(file, spec.traffic, share(events), again);
    return {
      url: address,
      events: file,
      connections: share(connections),
      seconds,
      isIdempotent: contender.isIdempotent,
      rate: rate === undefined ? undefined : rate / urls.length,
      countsStatuses,
    };
  });
  return together(await Promise.all(runs.map(wrk)));
}

/** Totals since the start of the processes; undefined for what a contender does not have. */
interface Spent {
  readonly cpu: number | undefined;
  readonly databaseCpu: number | undefined;
  readonly allocated: number | undefined;
}

function spent({ spec, contender, databasePid }: LoadPlan, { servers }: Serving): Spent {
  const seconds = (pids: readonly number[]) => cpuSeconds(processTree(pids));
  const usesDatabase = databasePid !== undefined && contender.store === "postgres";
  const isTraced = spec.kind === "allocation";
  return {
    cpu: servers.length === 0 ? undefined : seconds(servers.map(({ pid }) => pid)),
    databaseCpu: usesDatabase ? seconds([databasePid]) : undefined,
    allocated: isTraced ? allocatedBytes(servers.map((server) => server.output()).join("")) : undefined,
  };
}

/** CPU time in microseconds and KiB of V8's heaps, each for a callback. */
function costsOf(
  before: Spent,
  after: Spent,
  callbacks: number,
): Pick<Measurement, "cpu" | "databaseCpu" | "allocated"> {
  const each = (figure: keyof Spent, unit: number) => {
    const [from, to] = [before[figure], after[figure]];
    return from === undefined || to === undefined ? {} : { [figure]: ((to - from) / Math.max(1, callbacks)) * unit };
  };
  return { ...each("cpu", 1e6), ...each("databaseCpu", 1e6), ...each("allocated", 1 / 1024) };
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
