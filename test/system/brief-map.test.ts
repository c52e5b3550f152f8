import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { BriefMap } from "../../src/system/index.ts";

describe("a map of what lives as long as a request", () => {
  it("an entry is there until it is deleted, in the order of entry, however many have come and gone", () => {
    const map = new BriefMap<number, string>();
    for (let at = 0; at < 1_000; at += 1) {
      map.set(at, `value ${at}`);
      if (at >= 3) map.delete(at - 3);
      map.delete(-1);
    }
    expect([...map]).toEqual([
      [997, "value 997"],
      [998, "value 998"],
      [999, "value 999"],
    ]);
    expect([map.size, map.get(998), map.has(996)]).toEqual([3, "value 998", false]);
    for (let at = 997; at < 1_000; at += 1) map.delete(at);
    expect([map.size, [...map]]).toEqual([0, []]);
  });

  it("a map that was cleared is empty, and takes entries again", () => {
    const map = new BriefMap<string, number>();
    map.set("first", 1);
    map.clear();
    expect([map.size, map.has("first")]).toEqual([0, false]);
    map.set("second", 2);
    expect([...map]).toEqual([["second", 2]]);
  });

  it("entries that have left do not reach the old part of the heap, as those of a Map do", { tags: "full" }, () => {
    // A process of its own: the heap of one that has run other tests is too large to show it.
    const script = new URL("../support/old-space-growth.ts", import.meta.url).pathname;
    const { brief, map } = JSON.parse(
      execFileSync(process.execPath, ["--conditions=oncehook-source", script], { encoding: "utf8" }),
    );
    expect(5 * brief).toBeLessThan(map);
  });
});
