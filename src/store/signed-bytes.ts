import { sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import { Area, insert, run } from "./database.ts";
import { beforeHandler, EventLocked } from "./store-errors.ts";
import type { Transaction } from "./transaction.ts";

interface ClaimedRow {
  readonly eventId: string;
}

/**
 * The hashes of the signed bytes of events whose id is not signed: a body that was captured may come again under another
 * id. A hash commits with its event's record.
 */
export class SignedBytes extends Area {
  /** The event that these bytes brought first; undefined where they are new. */
  async find({ source }: Pick<EventKey, "source">, sha256: string): Promise<string | undefined> {
    const [row] = await this.read<ClaimedRow>`SELECT event_id FROM oncehook_signed_bytes
      WHERE sha256 = ${sha256} AND source = ${source}`;
    return row?.eventId;
  }
}

/**
 * @returns whether these bytes are this event's, and not another one's already
 * @throws EventLocked where a delivery under another id is at work on them
 */
export async function claimSignedBytes(
  { query }: Transaction,
  { source, eventId }: EventKey,
  sha256: string,
  now: Date,
): Promise<boolean> {
  const row = insert("oncehook_signed_bytes", { sha256, source, eventId, createdAt: now });
  const { changes } = await beforeHandler(
    () => run(query, sql`${row} ON CONFLICT DO NOTHING`),
    (cause) => new EventLocked("a delivery of the same signed bytes under another id holds them", { cause }),
  );
  if (changes === 1) return true;
  // A record may have been deleted, and its event be delivered once more.
  const { rows } = await run<ClaimedRow>(
    query,
    sql`SELECT event_id FROM oncehook_signed_bytes WHERE sha256 = ${sha256} AND source = ${source}`,
  );
  return rows[0]?.eventId === eventId;
}
