import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../support/open-target.ts";
import type { Audit } from "../driver/audit.ts";
import type { Book } from "../driver/book.ts";
import { type UnderFire, underFire } from "../driver/round.ts";
import type { Place, Ran, Round } from "./round.ts";

const CONNECTIONS = 64;
const CROWD = 10;
const MIN_GOODPUT = 0.9;
const MAX_GROWTH = 1.05;
/** The best is measured for so much of the time that the overload lasts. */
const BEST_PART = 0.2;
const WARM_UP_MS = 3_000;
/** A shorter run says nothing of goodput and memory, and needs no warm process. */
const MIN_MEASURED_S = 60;

interface Sample {
  readonly rssMb: number;
  readonly files: number;
}

/** Ten times the connections, as long as it is asked for: what is acknowledged a second, and what the process holds. */
export const overload = (dialect: Dialect): Round => ({
  name: `overload-${dialect}`,
  title: `seconds of overload with ${CROWD} times the connections, ${dialect}`,
  full: 600,
  short: 2,
  async run(place): Promise<Ran> {
    const best = await loaded(place, dialect, CONNECTIONS, Math.max(1, place.count * BEST_PART));
    const most = await loaded(place, dialect, CONNECTIONS * CROWD, place.count);
    const goodput = most.rate / best.rate;
    const half = Math.floor(most.samples.length / 2);
    const growth = median(most.samples.slice(-half / 2)) / median(most.samples.slice(half, half + half / 2));
    const files = most.samples.reduce((top, sample) => Math.max(top, sample.files), 0);
    const faults: string[] = [];
    if (place.count >= MIN_MEASURED_S) {
      if (goodput < MIN_GOODPUT) faults.push(`goodput is ${goodput.toFixed(2)} of the best`);
      if (growth > MAX_GROWTH) faults.push(`memory grew ${growth.toFixed(2)} times over the second half`);
    }
    return {
      count: place.count,
      audits: [best.audit, most.audit],
      figures: {
        "callbacks/s at best": Math.round(best.rate),
        "callbacks/s overloaded": Math.round(most.rate),
        goodput: goodput.toFixed(2),
        "RSS growth over the second half": growth.toFixed(3),
        "RSS in MB": Math.round(median(most.samples.slice(-half))),
        "most open files": files,
      },
      faults,
    };
  },
});

interface Load {
  readonly audit: Audit;
  /** Events that were acknowledged for the first time, a second. */
  readonly rate: number;
  readonly samples: readonly Sample[];
}

function loaded(place: Place, dialect: Dialect, connections: number, seconds: number): Promise<Load> {
  return place.withTarget(dialect, async (target) => {
    let rate = 0;
    const samples: Sample[] = [];
    const fire = { target, chance: place.chance.fork(), platform: { connections }, settleMs: 300_000 };
    const audit = await underFire(fire, async ({ fleet, book }) => {
      if (place.count >= MIN_MEASURED_S) await sleep(WARM_UP_MS);
      rate = await measured({ fleet, book }, seconds, samples);
    });
    return { audit, rate, samples };
  });
}

async function measured(
  { fleet, book }: Pick<UnderFire, "fleet"> & { readonly book: Book },
  seconds: number,
  samples: Sample[],
): Promise<number> {
  const begun = performance.now();
  const before = book.acknowledged;
  while (performance.now() - begun < seconds * 1_000) {
    await sleep(500);
    samples.push(sampleOf(fleet.pid(0)));
  }
  return ((book.acknowledged - before) * 1_000) / (performance.now() - begun);
}

function sampleOf(pid: number): Sample {
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { rssMb: Number(rss) / 1_024, files: readdirSync(`/proc/${pid}/fd`).length };
}

function median(samples: readonly Sample[]): number {
  const sorted = samples.map(({ rssMb }) => rssMb).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
