import { getHeapSpaceStatistics } from "node:v8";
import { describe, expect, it } from "vitest";
import { BriefMap } from "../../src/domain/index.ts";

const CHANGES = 200_000;
const kept: unknown[] = [];

/** Allocates until what is still in use has moved to the old space. */
function moveToOldSpace(): void {
  for (let at = 0; at < 400_000; at += 1)
    kept[at % 1_000] = { at, numbers: [at, at, at, at, at, at, at, at] };
}

const oldSpace = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;

/** By how many bytes short-lived entries let the old space grow. */
function growth(map: { set(key: string, value: object): unknown; delete(key: string): unknown }): number {
  map.set("first", {});
  moveToOldSpace();
  map.delete("first");
  let [grown, last] = [0, oldSpace()];
  for (let at = 0; at < CHANGES; at += 1) {
    map.set(`key ${at}`, { at, numbers: [at, at, at, at] });
    map.delete(`key ${at - 20}`);
    if (at % 1_000 > 0) continue;
    const used = oldSpace();
    grown += Math.max(0, used - last);
    last = used;
  }
  return grown;
}

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

  it("entries that have left do not reach the old part of the heap, as those of a Map do", () => {
    expect(20 * growth(new BriefMap())).toBeLessThan(growth(new Map()));
  });
});
