import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Target } from "../../test/support/open-target.ts";
import { startPostgresProcess } from "../../test/support/postgres-process.ts";

/** Prints a row of a table in Markdown. */
export function row(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

/** Prints the head of the rows of `measureRequests`. @param what the requests are */
export function head(what: string): void {
  row(what, "p50 ms", "p95 ms", "longest", "stall ms", "found");
  row("---", "---:", "---:", "---:", "---:", "---:");
}

interface Requests {
  readonly name: string;
  readonly count: number;
  /** @returns how many it has found */
  readonly ask: (request: number) => Promise<number>;
  /** In the words of the last column; default: the number. */
  readonly foundText?: (found: number) => string;
}

/** Sends requests one after the other, and prints how long they took. @returns their p95 in milliseconds */
export async function measureRequests({ name, count, ask, foundText = String }: Requests): Promise<number> {
  const took: number[] = [];
  let found = 0;
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  for (let request = 0; request < count; request += 1) {
    const startedAt = performance.now();
    const ofRequest = await ask(request);
    took.push(performance.now() - startedAt);
    found += ofRequest;
  }
  stalls.disable();
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.ceil(share * took.length) - 1] ?? 0;
  row(name, ...[at(0.5), at(0.95), at(1), stalls.max / 1e6].map(Math.round), foundText(found));
  return at(0.95);
}

type Measure = (dialect: Target["dialect"], server: string | undefined) => Promise<boolean>;

/** @param stores `sqlite`, `postgres` or both, separated by a comma @returns whether each met the goal */
export async function measureStores(stores: string, measure: Measure): Promise<boolean> {
  let isGoalMet = true;
  for (const dialect of stores.split(",")) {
    if (dialect === "sqlite") isGoalMet = (await measure("sqlite", undefined)) && isGoalMet;
    else {
      const { url, stop } = await startPostgresProcess();
      isGoalMet = (await measure("postgres", url).finally(stop)) && isGoalMet;
    }
  }
  return isGoalMet;
}
