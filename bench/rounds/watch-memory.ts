import { memoryMb, processTree } from "../machine/process-tree.ts";
import { median } from "../report/summary.ts";

export interface MemoryWatch {
  /** Ends the watch and returns what was resident at each second, in MB. */
  end(): number[];
}

export function watchMemory(roots: readonly number[]): MemoryWatch {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(Math.round(memoryMb(processTree(roots)).rss)), 1_000);
  return {
    end() {
      clearInterval(timer);
      return samples;
    },
  };
}

/** The last third against the one before it; the first is how the process finds its size. */
export function growthOf(samples: readonly number[]): number {
  const third = Math.floor(samples.length / 3);
  if (third === 0) return Number.NaN;
  return median(samples.slice(-third)) / median(samples.slice(-2 * third, -third));
}
