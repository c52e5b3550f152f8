import { sql } from "kysely";
import type { ValueColumns } from "../../domain/index.ts";
import { Area, insert, type Query, rowList, run, select } from "../database.ts";
import { SLACK_MS } from "./callback-log.ts";
import type { Lease } from "./lease.ts";
import { leaseByName, setNamedLeaseEnd } from "./named-lease.ts";
import type { IdRange } from "./paging.ts";
import { erasuresOf, isLatestErasure, longestRunMs, noteErasure, readSetting, writeSetting } from "./settings.ts";
import { type FoundIds, idsInBlock, sortKey, type ValueBlock } from "./value-blocks.ts";

/** A stretch of the callback log whose values stand in blocks. */
export interface ValueSegment {
  /** The ids from the first to the last one; no other segment has one of them. */
  readonly fromId: number;
  readonly toId: number;
  /** Between these its callbacks were received, in ISO 8601. */
  readonly fromTime: string;
  readonly toTime: string;
  /** Values of more than a quarter of its rows, which the blocks leave out. */
  readonly common: readonly string[];
}

export interface BuiltSegment extends ValueSegment {
  readonly rowCount: number;
  readonly blocks: readonly ValueBlock[];
}

/** A row of the log as an index reads it. */
export interface IndexedRow extends ValueColumns {
  readonly id: number;
  readonly receivedAt: string;
}

const LEASE = "value_index_lease";
/** Below which id all rows are visible, which id was noted since, and when. */
const MARK = "value_index_mark";
const HIGHEST_CHARACTER = "\u{10FFFF}";
/** About as long as a statement may hold up callbacks. */
const SEGMENTS_PER_STEP = 8;

/**
 * The values of the callback log in sorted, compressed blocks, one set for each segment of some thousand rows. They are written
 * once, beside the callbacks, and never changed (decision 0109).
 */
export class ValueIndex extends Area {
  /** Newest first. */
  async segments(): Promise<readonly ValueSegment[]> {
    const rows = await this.read<Omit<ValueSegment, "common"> & { common: string }>`
      SELECT from_id, to_id, from_time, to_time, common FROM oncehook_value_segments
      WHERE from_id > 0 ORDER BY from_id DESC`;
    return rows.map(({ common, ...segment }) => ({ ...segment, common: JSON.parse(common) }));
  }

  /** The ids of the log from the oldest to the newest row; empty where there is none. */
  async logRange(): Promise<IdRange> {
    const end = (direction: "ASC" | "DESC") =>
      sql`(SELECT id FROM oncehook_callbacks WHERE id > 0 ORDER BY id ${sql.raw(direction)} LIMIT 1)`;
    const [row] = await this.read<{ low: number | null; high: number | null }>`
      SELECT ${end("ASC")} AS low, ${end("DESC")} AS high`;
    return { from: row?.low ?? 0, below: row?.high == null ? 0 : row.high + 1 };
  }

  /**
   * All rows below this id are visible, so that an index may cover them. On PostgreSQL an id is taken before its transaction
   * commits. So one that was the newest is noted, and counts once the longest transaction since then is over.
   */
  async settledBelow(now: Date): Promise<number> {
    const { below } = await this.logRange();
    if (this.database.dialect === "sqlite") return below;
    const [settled = 0, noted = 0, notedAt = 0] = (await this.#mark()).split(" ").map(Number);
    const age = now.getTime() - notedAt;
    // A time in the future was noted before the clock was set back.
    const isDue = age > SLACK_MS + (await longestRunMs(this.database));
    if (!isDue && age >= 0) return settled;
    const reached = isDue ? noted : settled;
    await writeSetting(this.database.write, MARK, `${reached} ${below} ${now.getTime()}`);
    return reached;
  }

  async #mark(): Promise<string> {
    return (await readSetting(this.database.read, MARK)) ?? "";
  }

  /** The next rows of a range, oldest first. */
  rowsOf({ from, below }: IdRange, limit: number): Promise<readonly IndexedRow[]> {
    return this.read<IndexedRow>`
      SELECT id, received_at, request_id, event_id, remote_address, url, request_headers, request_body
      FROM oncehook_callbacks WHERE id >= ${from} AND id < ${below} ORDER BY id LIMIT ${limit}`;
  }

  /** Changes with each erasure; see `add`. */
  erasures(): Promise<string> {
    return erasuresOf(this.database);
  }

  /**
   * Adds a segment, all of it or nothing.
   * @param erasures as they were before its rows were read
   * @returns false where rows were erased since, or another process has added it
   */
  add({ blocks, common, ...segment }: BuiltSegment, erasures: string): Promise<boolean> {
    const addTo = async (query: Query): Promise<boolean> => {
      if (!(await isLatestErasure(query, this.database, erasures))) return false;
      // The nearest segment below its end would hold an id of it.
      const below = sql`SELECT to_id FROM oncehook_value_segments WHERE from_id <= ${segment.toId}
        ORDER BY from_id DESC LIMIT 1`;
      const [nearest] = (await run<{ toId: number }>(query, below)).rows;
      if (nearest !== undefined && nearest.toId >= segment.fromId) return false;
      await run(query, insert("oncehook_value_segments", { ...segment, common: JSON.stringify(common) }));
      for (const block of blocks)
        await run(query, insert("oncehook_value_blocks", { segment: segment.fromId, ...block }));
      return true;
    };
    return this.database.transact(addTo, { mayWait: true });
  }

  /**
   * The ids of rows with a value, by the first id of their segment. A row may have been deleted since. For `prefix` all blocks with
   * values that begin so are read, for `exact` only the first one.
   */
  async idsOf(
    segments: readonly ValueSegment[],
    value: string,
    match: "exact" | "prefix",
  ): Promise<ReadonlyMap<number, FoundIds>> {
    const key = sortKey(value);
    const last = match === "exact" ? key : key + HIGHEST_CHARACTER;
    const wanted = rowList(
      this.database.dialect,
      { segment: "bigint" },
      segments.map(({ fromId }) => ({ segment: fromId })),
    );
    const rows = await this.read<{ segment: number; block: Uint8Array }>`
      SELECT b.segment, b.block FROM ${wanted} AS wanted
      JOIN oncehook_value_blocks AS b ON b.segment = wanted.segment AND b.first_value <= ${last}
        AND b.first_value >= coalesce((SELECT m.first_value FROM oncehook_value_blocks AS m
          WHERE m.segment = wanted.segment AND m.first_value <= ${key} ORDER BY m.first_value DESC LIMIT 1), ${key})`;
    const ids = new Map<number, FoundIds>();
    for (const { segment, block } of rows) {
      const found = idsInBlock(block, segment, key);
      const { exact, longer, isWhole } = ids.get(segment) ?? { exact: [], longer: [], isWhole: match === "prefix" };
      for (const id of found.exact) exact.push(id);
      for (const id of found.longer) longer.push(id);
      ids.set(segment, { exact, longer, isWhole: isWhole || found.isWhole });
    }
    return ids;
  }

  /** Deletes the segments whose rows are all gone. @returns how many */
  async sweep(isStopping: () => boolean = () => false): Promise<number> {
    const { from } = await this.logRange();
    let deleted = 0;
    while (!isStopping()) {
      const old = await this.read<{ fromId: number }>`SELECT from_id FROM oncehook_value_segments
        WHERE from_id < ${from} AND to_id < ${from} ORDER BY from_id LIMIT ${sql.lit(SEGMENTS_PER_STEP)}`;
      if (old.length === 0) break;
      await this.database.transact((query) =>
        deleteSegments(
          query,
          old.map(({ fromId }) => fromId),
        ),
      );
      deleted += old.length;
    }
    return deleted;
  }

  /**
   * Deletes the segments that hold values of these rows. They are built again from what is left, so the rows must be changed or
   * deleted before.
   */
  async forget(ids: readonly number[]): Promise<void> {
    await this.erasures();
    await this.database.transact(async (query) => {
      await noteErasure(query);
      const rows = rowList(
        this.database.dialect,
        { id: "bigint" },
        ids.map((id) => ({ id })),
      );
      const holding = sql`SELECT DISTINCT (SELECT s.from_id FROM oncehook_value_segments AS s
        WHERE s.from_id <= erased.id ORDER BY s.from_id DESC LIMIT 1) AS segment FROM ${rows} AS erased`;
      const found = (await run<{ segment: number | null }>(query, holding)).rows;
      await deleteSegments(
        query,
        found.flatMap(({ segment }) => (segment === null ? [] : [segment])),
      );
    });
  }

  /** How many bytes its blocks take, and how many rows they cover. */
  async size(): Promise<{ readonly bytes: number; readonly rows: number }> {
    const [size] = await select<{ bytes: number; rowCount: number }>(
      this.database,
      sql`SELECT (SELECT coalesce(sum(length(block)), 0) FROM oncehook_value_blocks WHERE segment > 0) AS bytes,
        (SELECT coalesce(sum(row_count), 0) FROM oncehook_value_segments WHERE from_id > 0) AS row_count`,
    );
    return { bytes: Number(size?.bytes ?? 0), rows: Number(size?.rowCount ?? 0) };
  }

  /** For the one process that builds segments. @param longestMs that a lease lasts */
  lease(lease: Lease, longestMs: number): Promise<boolean> {
    return leaseByName(this.database, LEASE, lease, longestMs);
  }

  /** @returns false where another owner has it */
  setLeaseEnd(owner: string, until: Date): Promise<boolean> {
    return setNamedLeaseEnd(this.database, LEASE, owner, until);
  }
}

/** A segment may be empty of blocks, and is deleted all the same. */
async function deleteSegments(query: Query, segments: readonly number[]): Promise<void> {
  for (const segment of segments) {
    await run(query, sql`DELETE FROM oncehook_value_blocks WHERE segment = ${segment}`);
    await run(query, sql`DELETE FROM oncehook_value_segments WHERE from_id = ${segment}`);
  }
}
