import type { IdRange } from "./paging.ts";
import type { ValueSegment } from "./value-index.ts";

/** The parts of a range that no segment covers, newest first. @param segments newest first */
export function uncoveredRanges(
  segments: readonly Pick<ValueSegment, "fromId" | "toId">[],
  { from, below }: IdRange,
): readonly IdRange[] {
  const ranges: IdRange[] = [];
  let end = below;
  for (const { fromId, toId } of segments) {
    if (toId < from) break;
    if (toId + 1 < end) ranges.push({ from: toId + 1, below: end });
    end = Math.min(end, fromId);
  }
  if (from < end) ranges.push({ from, below: end });
  return ranges;
}
