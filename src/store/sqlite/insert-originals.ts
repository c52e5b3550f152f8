import { type KeptEvent, sealOriginals } from "../original-keeper.ts";
import type { Connection } from "./connection.ts";

/** An event of a group, with the id of its log entry. */
export interface TaskOriginal extends KeptEvent {
  readonly callbackId: number;
}

const INSERT_ORIGINALS = `INSERT INTO oncehook_originals
  (is_merged, keep_until, newest_at, first_callback_id, last_callback_id, encrypted_block) VALUES (0, ?, ?, ?, ?, ?)`;

/**
 * In the transaction of their events. After an error that leaves it open, the events have no originals.
 * @throws the driver's error where it ended the transaction as well
 */
export function insertOriginals(connection: Connection, kept: readonly TaskOriginal[]): void {
  for (const { block, events } of sealOriginals(kept)) {
    const [first, last] = [events[0], events.at(-1)];
    const range = [first?.callbackId ?? 0, last?.callbackId ?? 0];
    try {
      const times = [block.keepUntil.toISOString(), block.newestAt.toISOString()];
      connection.run(INSERT_ORIGINALS, ...times, ...range, block.encrypted);
    } catch (error) {
      if (!connection.database.isTransaction) throw error;
      first?.completion.original?.keeper.pause(error);
    }
  }
}
