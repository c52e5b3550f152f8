import { describe, expect, it } from "vitest";
import { BlockWriter, idsInBlock, sortKey } from "../../src/store/areas/value-blocks.ts";

const VALUES = [
  "a",
  "ab",
  "abc",
  "abd",
  "b",
  "ba",
  "café",
  "cafés",
  "order-1",
  "order-10",
  "order-100",
  "order-2",
  "z",
];

async function blockOf(values: readonly string[]) {
  const writer = new BlockWriter(100);
  const keys = values.map(sortKey).sort((one, other) => (one < other ? -1 : 1));
  keys.forEach((key, index) => void writer.add(key, [100 + index, 300 + index, 70_000 + index]));
  return { keys, block: (await writer.end())?.block ?? new Uint8Array() };
}

describe("a block of values", () => {
  it("a block has the ids of each value, and those of all values that begin so", async () => {
    const { keys, block } = await blockOf(VALUES);
    const asked = [...VALUES, "", "aa", "abe", "caf", "order", "order-11", "order-3", "zz"].map(sortKey);
    for (const key of asked) {
      const idsOf = (isMatch: (value: string) => boolean) =>
        keys.flatMap((value, index) => (isMatch(value) ? [100 + index, 300 + index, 70_000 + index] : []));
      const { exact, longer, isWhole } = idsInBlock(block, 100, key);
      expect([key, exact]).toEqual([key, idsOf((value) => value === key)]);
      expect([key, longer]).toEqual([key, idsOf((value) => value !== key && value.startsWith(key))]);
      const last = keys.at(-1) ?? "";
      expect([key, isWhole]).toEqual([key, last > key && !last.startsWith(key)]);
    }
  });

  it("a block is handed over when it is full, and its first value is the next one's end", async () => {
    const writer = new BlockWriter(1);
    const blocks = [];
    for (let number = 0; number < 3_000; number += 1) {
      const full = writer.add(`value-${String(number).padStart(6, "0")}-${number % 7}`, [number + 1]);
      if (full !== undefined) blocks.push(await full);
    }
    blocks.push(await writer.end());
    expect(blocks.length).toBeGreaterThan(1);
    const found = blocks.flatMap((one) => (one === undefined ? [] : idsInBlock(one.block, 1, "value-").longer));
    expect(found).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
  });
});
