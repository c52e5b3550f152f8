import { describe, expect, it } from "vitest";
import { judgeGoals } from "../../bench/report/goals.ts";
import { plot } from "../../bench/report/plot.ts";
import type { Results } from "../../bench/report/results.ts";
import { figureOf, median, percentile, summarise } from "../../bench/report/summary.ts";
import { report } from "../../bench/report/tables.ts";
import { withFigures } from "../../bench/report/write-docs.ts";
import type { Measurement } from "../../bench/rounds/measurement.ts";

function round(entrant: string, rate: number, invalid: string[] = [], name = "fresh"): Measurement {
  return { case: name, entrant, round: 1, rate, p99: rate / 100, invalid };
}

function results(measurements: Measurement[]): Results {
  return {
    date: "2026-01-02T03:04:05.678Z",
    machine: { processor: "2 × a processor" },
    options: { rounds: 1, seconds: 2, connections: 64 },
    cases: [{ name: "fresh", title: "Fresh & new" }],
    versions: {},
    missing: { webhook: "the command webhook is not there" },
    measurements,
  };
}

describe("the benchmark's report", () => {
  it("the median is the middle value, or the mean of the two middle ones", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 2, 100])).toBe(6);
    expect(median([3])).toBe(3);
    expect(() => median([])).toThrow(RangeError);
  });

  it("a percentile is the smallest latency that so many percent do not exceed", () => {
    const values = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    expect([50, 99, 99.9].map((percent) => percentile(values, percent))).toEqual([500, 990, 999]);
    expect(percentile([], 99)).toBeNaN();
  });

  it("invalid rounds are left out of the medians, with their number and reasons", () => {
    const [summary] = summarise([
      round("bare", 100),
      round("bare", 9_999, ["3 timeouts"]),
      round("bare", 120),
      round("bare", 9_999, ["3 timeouts"]),
      round("bare", 110),
    ]);
    expect(summary).toMatchObject({ rounds: 5, valid: 3, faults: ["3 timeouts"], rates: [100, 120] });
    expect(summary?.medians).toEqual({ rate: 110, p99: 1.1 });
  });

  it("an entrant without a valid round has no figure", () => {
    const summaries = summarise([round("restate", 50, ["7 unexpected answers"])]);
    expect(figureOf(summaries, "fresh", "restate", "rate")).toBeUndefined();
    expect(report(results([round("restate", 50, ["7 unexpected answers"])]))).toContain(
      "0 of 1 count: 7 unexpected answers",
    );
  });

  it("a goal divides medians of one case, and has no value where one was not measured", () => {
    const summaries = summarise([round("oncehook-sqlite", 40), round("oncehook-sqlite", 60), round("bare", 100)]);
    const own = ["fresh", "oncehook-sqlite", "rate"] as const;
    const judged = judgeGoals(summaries, [
      { title: "reached", of: own, against: ["fresh", "bare", "rate"], least: 0.5 },
      { title: "missed", of: own, against: ["fresh", "bare", "rate"], least: 0.51 },
      { title: "absolute", of: own, most: 50, unit: " MB" },
      { title: "absent", of: own, against: ["fresh", "webhook", "rate"], least: 2 },
    ]);
    expect(judged.map(({ value, isReached }) => [value, isReached])).toEqual([
      [0.5, true],
      [0.5, false],
      [50, true],
      [undefined, undefined],
    ]);
    expect(judged.map(({ goal }) => goal)).toEqual(["≥ 0.5 ×", "≥ 0.51 ×", "≤ 50 MB", "≥ 2 ×"]);
  });

  it("the goals judge rates, CPU time, allocation and start, by ratios of medians", () => {
    const measured = (name: string, entrant: string, figures: Partial<Measurement>) =>
      ({ ...round(entrant, 0, [], name), ...figures }) as Measurement;
    const verdicts = judgeGoals(
      summarise([
        ...[1_000, 4_000, 3_400].map((rate) => measured("fresh", "oncehook-sqlite", { rate, cpu: 130 })),
        ...[4_000, 100, 9_000].map((rate) => measured("fresh", "prototype", { rate, cpu: 100 })),
        measured("allocation", "oncehook-sqlite", { allocated: 26 }),
        measured("startup", "oncehook-package", { startCpuMs: 300 }),
      ]),
    );
    const known = verdicts.filter(({ value }) => value !== undefined);
    expect(known.map(({ title, goal, value, isReached }) => [title, goal, value, isReached])).toEqual([
      ["fresh, SQLite ÷ the prototype of group commit", "≥ 0.85 ×", 0.85, true],
      ["CPU of a fresh callback, SQLite ÷ the prototype", "≤ 1.35 ×", 1.3, true],
      ["allocated for a fresh event, SQLite", "≤ 25 KiB", 26, false],
      ["start to ready, CPU, the packed package", "≤ 300 ms", 300, true],
    ]);
  });

  it("the report names missing contenders and short trials", () => {
    const text = report(results([round("bare", 100)]));
    expect(text).toContain("- `webhook`: the command webhook is not there");
    expect(text).toContain("A short trial");
  });

  it("the plot draws the medians, for dark pages too", () => {
    const svg = plot(results([round("bare", 12_345), round("oncehook-sqlite", 6_000)]));
    expect(svg).toContain("12,345");
    expect(svg).toContain("Fresh &amp; new");
    expect(svg).toContain("prefers-color-scheme:dark");
  });

  it("new figures replace those of a page and nothing else, and a page without a place for them is refused", () => {
    const begin = "<!-- figures: written by npm run bench -- --write-docs -->";
    const page = `before\n${begin}\nold\n<!-- end of figures -->\nafter\n`;
    const once = withFigures(page, "new");
    expect(once).toBe(`before\n${begin}\n\nnew\n\n<!-- end of figures -->\nafter\n`);
    expect(withFigures(once, "new")).toBe(once);
    expect(() => withFigures("before\nafter\n", "new")).toThrow("end of figures");
  });
});
