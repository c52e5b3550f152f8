import type { RollupCount, Span } from "../domain/index.ts";

/** A period and what was counted in it. */
export interface RollupSlot extends RollupCount {
  /** When it began, in seconds since the epoch. */
  readonly slot: number;
}

/** What callbacks came to, counted by time; see `SPANS`. */
export interface RollupStore {
  /** Adds to the counts of the periods that hold this moment, all of them or none. */
  add(at: Date, counts: readonly RollupCount[]): Promise<void>;
  /** The counts of a span, in periods of its length, from the one that begins at `from` (seconds since the epoch) on. */
  list(span: Span, from: number): Promise<RollupSlot[]>;
}
