import { Counter, type Registry } from "prom-client";

/** Counts one more, or `by` more, under these values of its labels, in the order of their names. */
export type Tally = (values?: readonly string[], by?: number) => void;

/**
 * A counter that is told at a scrape what was counted until then: to look a label's values up costs more than the
 * counting, and a callback is counted in five places.
 */
export function createTally(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: readonly string[] = [],
): Tally {
  const counts = new Map<string, { readonly labels: Record<string, string>; count: number }>();
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of counts.values()) this.inc(labels, count);
    },
  });
  const entryOf = (values: readonly string[], key: string) => {
    const labels = Object.fromEntries(labelNames.map((label, index) => [label, values[index] ?? ""]));
    const entry = { labels, count: 0 };
    counts.set(key, entry);
    return entry;
  };
  // One without labels is 0 from the start, and not absent.
  if (labelNames.length === 0) entryOf([], "");
  return (values = [], by = 1) => {
    const key = values.join("\n");
    const entry = counts.get(key) ?? entryOf(values, key);
    entry.count += by;
  };
}
