import { type RawBuilder, sql } from "kysely";
import { ERASED, type EventKey, keyText, withoutHandler } from "../../domain/index.ts";
import type { Encryptor } from "../../system/index.ts";
import { Area, equal, type IdRow, insert, rowList } from "../database.ts";
import type { Original } from "../original-block.ts";
import { decryptOriginals, type NewBlock } from "../original-keeper.ts";
import { mergedBelow } from "./group-blocks.ts";

/** After an original: its row, and its number there. */
export interface OriginalPosition {
  readonly block: number;
  readonly index: number;
}

/** The ids of the latest block and of the latest log entry; 0 where there is none. */
interface OriginalsEnd {
  readonly block: number;
  readonly callback: number;
}

interface EncryptedBlock {
  readonly encrypted: Uint8Array;
}

export interface OriginalBlock extends EncryptedBlock {
  readonly id: number;
  /** Of a block of one event, which was stored before it was handled. */
  readonly eventId: string | null;
  /** ISO 8601. */
  readonly keepUntil: string;
}

type Decrypt = Pick<Encryptor, "decrypt">;

/** Ids from the first to the last log entry of a block. A group has some dozens, and others write beside it. */
const WIDEST_BLOCK = 10_000;
const BLOCKS_PER_READ = 16;
/** A platform repeats an event that was answered 200 a few times at the most. */
const MOST_ENTRIES = 8;

/** Of an event that is stored before it was handled. One that is rejected is replaced by what its platform sends next. */
export function insertOriginal({ source, eventId }: EventKey, block: NewBlock): RawBuilder<unknown> {
  const { keepUntil, newestAt, encrypted: encryptedBlock } = block;
  return sql`${insert("oncehook_originals", { keepUntil, newestAt, source, eventId, encryptedBlock })}
    ON CONFLICT (event_id, source) WHERE event_id IS NOT NULL DO UPDATE SET
      keep_until = excluded.keep_until, newest_at = excluded.newest_at, encrypted_block = excluded.encrypted_block
    WHERE EXISTS (SELECT 1 FROM oncehook_failures AS f
      WHERE f.event_id = excluded.event_id AND f.source = excluded.source AND f.state = 'rejected')`;
}

/**
 * The events as they came, in encrypted blocks (decision 0108). A handled event is in the block that its transaction wrote,
 * until that is merged with others. One that was stored before is in a block under its key. An event that is in both was
 * handled in a later delivery, whose original counts. One that no handler took is in a block with its log entry, once for
 * each delivery.
 */
export class Originals extends Area {
  /**
   * That of its key. An event that a backfill gave to its handler has none there. The newest one under another key of the event
   * counts then, or an erased one where there is any.
   * @throws EncryptionKeyMissing where no configured key encrypted it
   */
  async find(key: EventKey, encryptor: Decrypt): Promise<Original | undefined> {
    const own = await this.findUnder(key, encryptor);
    if (own !== undefined) return own;
    const found: Original[] = [];
    for (const other of await this.otherKeys(key)) {
      const original = await this.findUnder(other, encryptor);
      if (original !== undefined) found.push(original);
    }
    return found.find(({ body }) => isErased(body)) ?? found.toSorted(byArrival).at(-1);
  }

  /** The keys of the same event at other handlers, or from before it had one. */
  private async otherKeys({ source, eventId }: EventKey): Promise<readonly EventKey[]> {
    const rows = await this.read<Pick<EventKey, "source">>`
      SELECT source FROM oncehook_records WHERE event_id = ${eventId}
      UNION SELECT source FROM oncehook_originals WHERE event_id = ${eventId}
      UNION SELECT source FROM oncehook_callbacks WHERE event_id = ${eventId} AND with_record = 0`;
    const others = rows.filter((row) => row.source !== source && withoutHandler(row.source) === withoutHandler(source));
    return others.map((row) => ({ source: row.source, eventId }));
  }

  private async findUnder(key: EventKey, encryptor: Decrypt): Promise<Original | undefined> {
    const { source, eventId } = key;
    const record = await this.read<{ callbackId: number | null }>`SELECT callback_id FROM oncehook_records
      WHERE ${equal({ eventId, source })}`;
    const callbackId = record[0]?.callbackId ?? null;
    const handled = callbackId === null ? undefined : await this.findInGroups(key, callbackId, encryptor);
    if (handled !== undefined) return handled;
    const [block] = await this.read<EncryptedBlock>`SELECT encrypted_block AS encrypted
      FROM oncehook_originals WHERE ${equal({ eventId, source })}`;
    if (block !== undefined) return decryptOriginals(block.encrypted, encryptor)[0];
    return this.findByEntries(key, encryptor);
  }

  /** The present end of the originals. */
  async end(): Promise<OriginalsEnd> {
    const [newest] = await this.read<OriginalsEnd>`SELECT
      coalesce((SELECT id FROM oncehook_originals WHERE id > 0 ORDER BY id DESC LIMIT 1), 0) AS block,
      coalesce((SELECT id FROM oncehook_callbacks WHERE id > 0 ORDER BY id DESC LIMIT 1), 0) AS callback`;
    return newest ?? { block: 0, callback: 0 };
  }

  /**
   * Blocks with events that came since then, as they are stored, by their ids. A group of another process that is still to
   * commit may appear before them. Some originals come again where blocks are merged meanwhile.
   * @param end later blocks are left out, but for those that earlier ones were merged into
   */
  blocks(from: number, end: OriginalsEnd, since: Date): Promise<readonly OriginalBlock[]> {
    return this.read`SELECT id, event_id, encrypted_block AS encrypted, keep_until FROM oncehook_originals
      WHERE id >= ${from} AND (id <= ${end.block} OR first_callback_id <= ${end.callback}) AND newest_at >= ${since}
      ORDER BY id LIMIT ${sql.lit(BLOCKS_PER_READ)}`;
  }

  /** Of originals that were stored before: the keys of those that another delivery handled, whose original counts. */
  async handledLater(stored: readonly Original[], encryptor: Decrypt): Promise<ReadonlySet<string>> {
    if (stored.length === 0) return new Set();
    const keyRows = stored.map(({ eventId, source }) => ({ event_id: eventId, source }));
    const keys = rowList(this.database.dialect, { event_id: "text", source: "text" }, keyRows);
    const records = await this.read<EventKey & { callbackId: number }>`
      SELECT r.event_id, r.source, r.callback_id FROM ${keys} AS k
      JOIN oncehook_records AS r ON r.event_id = k.event_id AND r.source = k.source WHERE r.callback_id IS NOT NULL`;
    const later = new Set<string>();
    for (const { callbackId, ...key } of records)
      if ((await this.findInGroups(key, callbackId, encryptor)) !== undefined) later.add(keyText(key));
    return later;
  }

  /** That of an event without a record from its delivery is found by its log entries, the latest first. */
  private async findByEntries(key: EventKey, encryptor: Decrypt): Promise<Original | undefined> {
    const { source, eventId } = key;
    const entries = await this.read<IdRow>`SELECT id FROM oncehook_callbacks WHERE ${equal({ eventId, source })}
      AND with_record = 0 AND outcome IN ('ignored', 'event_type_unknown', 'success') ORDER BY id DESC LIMIT ${sql.lit(MOST_ENTRIES)}`;
    for (const { id } of entries) {
      const original = await this.findInGroups(key, id, encryptor);
      if (original !== undefined) return original;
    }
    return undefined;
  }

  /** The blocks of PostgreSQL's groups overlap: each that may have the event is looked through. */
  private async findInGroups(key: EventKey, callbackId: number, encryptor: Decrypt): Promise<Original | undefined> {
    const mayHave = sql`last_callback_id >= ${callbackId} AND last_callback_id < ${callbackId + WIDEST_BLOCK}
      AND first_callback_id <= ${callbackId}`;
    const blocks = await this.read<EncryptedBlock>`
      SELECT encrypted_block AS encrypted FROM oncehook_originals WHERE is_merged = 1 AND ${mayHave}
      UNION ALL SELECT encrypted_block FROM oncehook_originals
        WHERE is_merged = 0 AND id >= ${await mergedBelow(this.database)} AND ${mayHave}`;
    for (const { encrypted } of blocks) {
      const original = decryptOriginals(encrypted, encryptor).find((one) => keyText(one) === keyText(key));
      if (original !== undefined) return original;
    }
    return undefined;
  }
}

const ERASED_BODY = Buffer.from(ERASED);

/** Whether the payload of an original was erased. */
export function isErased(body: Uint8Array): boolean {
  // biome-ignore lint/plugin: the text of an erased body is no secret.
  return ERASED_BODY.equals(body);
}

export function byArrival(one: Original, other: Original): number {
  return one.receivedAt < other.receivedAt ? -1 : Number(one.receivedAt > other.receivedAt);
}
