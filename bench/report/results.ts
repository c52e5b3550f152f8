import type { MachineFacts } from "../machine/machine-facts.ts";
import type { Measurement } from "../rounds/measurement.ts";

/** What bench/results/latest.json holds: all of a run, from which every table and plot is made. */
export interface Results {
  readonly date: string;
  readonly machine: MachineFacts;
  readonly options: {
    readonly rounds: number;
    readonly seconds: number;
    readonly warmUpSeconds?: number;
    readonly connections: number;
  };
  readonly cases: readonly { readonly name: string; readonly title: string }[];
  readonly versions: Readonly<Record<string, string>>;
  /** What could not run here, and why. */
  readonly missing: Readonly<Record<string, string>>;
  readonly measurements: readonly Measurement[];
}

/** Fewer rounds, or shorter ones, show that it runs and little else. */
export function isShortTrial({ rounds, seconds }: Results["options"]): boolean {
  return rounds < 5 || seconds < 5;
}
