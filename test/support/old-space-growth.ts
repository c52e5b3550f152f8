import { getHeapSpaceStatistics } from "node:v8";
import { BriefMap } from "../../src/system/index.ts";

const CHANGES = 200_000;
const kept: unknown[] = [];

/** Allocates until what is still in use has moved to the old space. */
function moveToOldSpace(): void {
  for (let at = 0; at < 400_000; at += 1) kept[at % 1_000] = { at, numbers: [at, at, at, at, at, at, at, at] };
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

process.stdout.write(JSON.stringify({ brief: growth(new BriefMap()), map: growth(new Map()) }));
