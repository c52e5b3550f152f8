import { sql } from "kysely";
import { Area, type Database, idIn, run } from "../database.ts";
import type { Lease } from "./lease.ts";
import { leaseByName, setNamedLeaseEnd } from "./named-lease.ts";
import { readSetting, writeSetting } from "./settings.ts";

/** The block of one group, which is to be merged with those of others. */
export interface GroupBlock {
  readonly id: number;
  /** ISO 8601, as `newestAt`. */
  readonly keepUntil: string;
  readonly newestAt: string;
  readonly firstCallbackId: number;
  readonly lastCallbackId: number;
  readonly encrypted: Uint8Array;
}

const LEASE = "merged_originals_lease";
/** The setting with the id below which each block is merged. */
const MARK = "merged_originals_mark";

/** Below this id no block of a single group is left. */
export async function mergedBelow(database: Database): Promise<number> {
  return Number((await readSetting(database.read, MARK)) ?? 0);
}

/** The blocks of single groups, which no index holds and which are merged beside the callbacks (decision 0108). */
export class GroupBlocks extends Area {
  lease(lease: Lease, longestMs: number): Promise<boolean> {
    return leaseByName(this.database, LEASE, lease, longestMs);
  }

  setLeaseEnd(owner: string, until: Date): Promise<boolean> {
    return setNamedLeaseEnd(this.database, LEASE, owner, until);
  }

  /** Oldest first. @param settledAt those of younger events stay; a clock that was ahead makes blocks of the future */
  async oldest(limit: number, settledAt: Date): Promise<readonly GroupBlock[]> {
    return this.read`SELECT id, keep_until, newest_at, first_callback_id, last_callback_id, encrypted_block AS encrypted
      FROM oncehook_originals WHERE id >= ${await mergedBelow(this.database)} AND is_merged = 0 AND newest_at < ${settledAt}
      ORDER BY id LIMIT ${limit}`;
  }

  /** How many ids there are from the oldest block of a single group on. Other rows may be among them. */
  async ids(): Promise<number> {
    const [newest] = await this.read<{ id: number }>`SELECT id FROM oncehook_originals ORDER BY id DESC LIMIT 1`;
    return newest === undefined ? 0 : newest.id + 1 - Math.min(await mergedBelow(this.database), newest.id + 1);
  }

  /**
   * Puts one block in the place of several. It has the id of the last one: a walk along the ids meets it behind its parts.
   * @returns false where one was changed or deleted meanwhile, and nothing was written
   */
  async merge(parts: readonly GroupBlock[], merged: Uint8Array): Promise<boolean> {
    const last = parts.at(-1);
    if (last === undefined) return false;
    const { dialect } = this.database;
    const others = parts.slice(0, -1).map(({ id }) => id);
    const lock = dialect === "postgres" ? sql`FOR UPDATE` : sql``;
    return this.database.transact(
      async (query) => {
        const isPart = idIn(dialect, [...others, last.id]);
        const { rows } = await run<Pick<GroupBlock, "encrypted">>(
          query,
          sql`SELECT encrypted_block AS encrypted FROM oncehook_originals WHERE ${isPart} ORDER BY id ${lock}`,
        );
        const isUnchanged = parts.every((part, index) => isSame(part.encrypted, rows[index]?.encrypted));
        if (rows.length !== parts.length || !isUnchanged) return false;
        await run(query, sql`DELETE FROM oncehook_originals WHERE ${idIn(dialect, others)}`);
        await run(
          query,
          sql`UPDATE oncehook_originals SET is_merged = 1, encrypted_block = ${merged},
            keep_until = ${latest(parts.map(({ keepUntil }) => keepUntil))},
            newest_at = ${latest(parts.map(({ newestAt }) => newestAt))},
            first_callback_id = ${Math.min(...parts.map(({ firstCallbackId }) => firstCallbackId))},
            last_callback_id = ${Math.max(...parts.map(({ lastCallbackId }) => lastCallbackId))}
            WHERE id = ${last.id}`,
        );
        return true;
      },
      { mayWait: true },
    );
  }

  /**
   * Notes below which id each block is merged. An id is taken before its transaction commits, so rows that are younger than
   * this time count as unmerged.
   */
  async setMark(settledAt: Date): Promise<void> {
    const [first] = await this.read<{ id: number }>`SELECT id FROM oncehook_originals
      WHERE id >= ${await mergedBelow(this.database)} AND (is_merged = 0 OR newest_at >= ${settledAt}) ORDER BY id LIMIT 1`;
    const [newest] = await this.read<{ id: number }>`SELECT id FROM oncehook_originals ORDER BY id DESC LIMIT 1`;
    const mark = first?.id ?? newest?.id;
    if (mark !== undefined) await writeSetting(this.database.write, MARK, String(mark));
  }
}

function isSame(one: Uint8Array, other: Uint8Array | undefined): boolean {
  // biome-ignore lint/plugin: both come from the same row.
  return other !== undefined && Buffer.compare(one, other) === 0;
}

/** Times in ISO 8601 are in the order of their texts. */
const latest = (times: readonly string[]) => times.reduce((one, other) => (other > one ? other : one));
