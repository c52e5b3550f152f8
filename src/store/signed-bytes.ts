import type { EventKey } from "../domain/index.ts";
import { Area, insert } from "./database.ts";

interface ClaimedRow {
  readonly eventId: string;
}

/**
 * The hashes of what was signed, for events whose id is not: what was captured may come again under another id. The first
 * event that brings a hash owns it, whatever becomes of the event.
 */
export class SignedBytes extends Area {
  /**
   * Makes these bytes the event's, unless they are another one's. It commits by itself: before any outside work, and
   * before the platform has its response.
   * @returns the id of the event that owns them
   */
  async claim({ source, eventId }: EventKey, sha256: string, now: Date): Promise<string> {
    for (;;) {
      const [row] = await this.read<ClaimedRow>`SELECT event_id FROM oncehook_signed_bytes
        WHERE sha256 = ${sha256} AND source = ${source}`;
      if (row !== undefined) return row.eventId;
      const claimed = insert("oncehook_signed_bytes", { sha256, source, eventId, createdAt: now });
      const { changes } = await this.write`${claimed} ON CONFLICT DO NOTHING`;
      if (changes === 1) return eventId;
      // Another process was faster; its row can be read now.
    }
  }
}
