import { eachValue, indexedValue } from "../domain/index.ts";
import {
  BlockWriter,
  type BuiltSegment,
  type IdRange,
  type IndexedRow,
  sortKey,
  type ValueBlock,
  type ValueIndex,
} from "../store/index.ts";
import type { GiveWay } from "./give-way.ts";

/** Rows of one read: a body may take 64 KiB. */
const ROWS_PER_READ = 64;
/** A segment ends early where its rows hold more: its values are in memory until it is written. */
const [MAX_BODY_BYTES, MAX_VALUES] = [24 * 1024 * 1024, 600_000];
/** A value of a greater part of the rows is left out: reading the log finds it at once. */
const COMMON_SHARE = 4;
/** Sorting so many values takes about four milliseconds. */
const SORTED_AT_ONCE = 2_048;

type Entry = readonly [key: string, ids: readonly number[]];

/** The blocks of a stretch of the callback log. @returns undefined where it has no rows */
export async function buildSegment(
  index: Pick<ValueIndex, "rowsOf">,
  range: IdRange,
  giveWay: GiveWay,
): Promise<BuiltSegment | undefined> {
  const read = await readValues(index, range, giveWay);
  if (read.rowCount === 0) return undefined;
  const { postings, ...segment } = read;
  const common: string[] = [];
  const entries: Entry[] = [];
  for (const [value, ids] of postings) {
    if (ids.length * COMMON_SHARE > read.rowCount) common.push(value);
    else entries.push([sortKey(value), ids]);
    if (entries.length % SORTED_AT_ONCE === 0) await giveWay();
  }
  const sorted = await sortInSlices(entries, giveWay);
  return { ...segment, common, blocks: await writeBlocks(sorted, range.from, giveWay) };
}

async function readValues(index: Pick<ValueIndex, "rowsOf">, range: IdRange, giveWay: GiveWay) {
  const postings = new Map<string, number[]>();
  let [fromTime, toTime, rowCount, bytes, values] = ["", "", 0, 0, 0];
  for (let from = range.from; ; ) {
    const rows = await index.rowsOf({ from, below: range.below }, ROWS_PER_READ);
    for (const row of rows) {
      values += addRow(postings, row);
      bytes += row.requestBody.length;
      if (fromTime === "" || row.receivedAt < fromTime) fromTime = row.receivedAt;
      if (row.receivedAt > toTime) toTime = row.receivedAt;
      await giveWay();
    }
    rowCount += rows.length;
    const last = rows.at(-1);
    const isAtEnd = last === undefined || rows.length < ROWS_PER_READ;
    if (isAtEnd || bytes > MAX_BODY_BYTES || values > MAX_VALUES) {
      const toId = isAtEnd ? range.below - 1 : last.id;
      return { fromId: range.from, toId, fromTime, toTime, rowCount, postings };
    }
    from = last.id + 1;
  }
}

/** @returns how many values it has added */
function addRow(postings: Map<string, number[]>, row: IndexedRow): number {
  let added = 0;
  eachValue(row, (value) => {
    const indexed = indexedValue(value);
    if (indexed === undefined) return;
    const ids = postings.get(indexed);
    if (ids === undefined) postings.set(indexed, [row.id]);
    else if (ids.at(-1) !== row.id) ids.push(row.id);
    else return;
    added += 1;
  });
  return added;
}

/** A sort of several hundred thousand values as a whole would keep callbacks waiting for longer than may be. */
async function sortInSlices(entries: readonly Entry[], giveWay: GiveWay): Promise<readonly Entry[]> {
  let runs: (readonly Entry[])[] = [];
  for (let from = 0; from < entries.length; from += SORTED_AT_ONCE) {
    runs.push(entries.slice(from, from + SORTED_AT_ONCE).sort(([one], [other]) => (one < other ? -1 : 1)));
    await giveWay();
  }
  while (runs.length > 1) {
    const merged: (readonly Entry[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], giveWay));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(one: readonly Entry[], other: readonly Entry[], giveWay: GiveWay): Promise<readonly Entry[]> {
  const merged: Entry[] = [];
  for (let [left, right] = [0, 0]; ; ) {
    const [a, b] = [one[left], other[right]];
    if (a === undefined && b === undefined) return merged;
    if (b === undefined || (a !== undefined && a[0] < b[0])) {
      merged.push(a as Entry);
      left += 1;
    } else {
      merged.push(b);
      right += 1;
    }
    if (merged.length % SORTED_AT_ONCE === 0) await giveWay();
  }
}

async function writeBlocks(
  entries: readonly Entry[],
  fromId: number,
  giveWay: GiveWay,
): Promise<readonly ValueBlock[]> {
  const writer = new BlockWriter(fromId);
  const blocks: ValueBlock[] = [];
  for (const [key, ids] of entries) {
    const full = writer.add(key, ids);
    if (full === undefined) continue;
    blocks.push(await full);
    await giveWay();
  }
  const last = await writer.end();
  return last === undefined ? blocks : [...blocks, last];
}
