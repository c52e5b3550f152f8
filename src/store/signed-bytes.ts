import type { EventKey } from "../domain/index.ts";
import { BATCH_TIMEOUT_MS, type BatchedRequest, Batches, WRITING_BATCHES } from "./batches.ts";
import { Area, type Database, rowList } from "./database.ts";

/** Resolves to the id of the event that owns the bytes. */
interface PendingClaim extends BatchedRequest<string> {
  readonly sha256: string;
  readonly now: Date;
}

interface ClaimedRow {
  readonly sha256: string;
  readonly source: string;
  readonly eventId: string;
}

const COLUMNS = { sha256: "text", source: "text", event_id: "text", created_at: "timestamptz" } as const;

/**
 * The hashes of what was signed, for events whose id is not: what was captured may come again under another id. The first
 * event that brings a hash owns it, whatever becomes of the event.
 */
export class SignedBytes extends Area {
  private readonly claims: Batches<PendingClaim, string>;

  constructor(database: Database) {
    super(database);
    this.claims = new Batches({ ...WRITING_BATCHES, run: (claims) => this.claimAll(claims) });
  }

  /**
   * Makes these bytes the event's, unless they are another one's. It commits by itself, with the claims of one turn of
   * the event loop: before any outside work, and before the platform has its response.
   * @param sha256 of what was signed, lowercase hex
   * @returns the id of the event that owns them
   * @throws StoreError where the database did not take the claim within 10 s
   */
  claim(key: EventKey, sha256: string, now: Date): Promise<string> {
    return this.claims.ask({ key, sha256, now, deadline: performance.now() + BATCH_TIMEOUT_MS });
  }

  /** Nearly all bytes are new: the rows that were there are read only where some are not. */
  private async claimAll(claims: readonly PendingClaim[]): Promise<string[]> {
    const owners = new Map<string, string>();
    for (;;) {
      const open = claims.filter((claim) => !owners.has(nameOfClaim(claim)));
      if (open.length === 0) return claims.map((claim) => owners.get(nameOfClaim(claim)) as string);
      for (const row of await this.insertAll(open)) owners.set(nameOfRow(row), row.eventId);
      const taken = open.filter((claim) => !owners.has(nameOfClaim(claim)));
      // A row that is not found was deleted meanwhile: its bytes are claimed again.
      if (taken.length > 0)
        for (const row of await this.readAll(taken)) owners.set(nameOfRow(row), row.eventId);
    }
  }

  /** In one order for all processes, which prevents deadlocks. Without WHERE SQLite would read ON as part of a join. */
  private async insertAll(claims: readonly PendingClaim[]): Promise<readonly ClaimedRow[]> {
    const { rows } = await this
      .write<ClaimedRow>`INSERT INTO oncehook_signed_bytes (sha256, source, event_id, created_at)
      SELECT g.sha256, g.source, g.event_id, g.created_at FROM ${this.given(claims)} AS g WHERE true
      ORDER BY g.sha256, g.source ON CONFLICT DO NOTHING RETURNING sha256, source, event_id`;
    return rows;
  }

  private readAll(claims: readonly PendingClaim[]): Promise<readonly ClaimedRow[]> {
    return this.read<ClaimedRow>`SELECT s.sha256, s.source, s.event_id FROM ${this.given(claims)} AS g
      JOIN oncehook_signed_bytes AS s ON s.sha256 = g.sha256 AND s.source = g.source`;
  }

  private given(claims: readonly PendingClaim[]) {
    const rows = claims.map(({ key, sha256, now }) => ({
      sha256,
      source: key.source,
      event_id: key.eventId,
      created_at: now.toISOString(),
    }));
    return rowList(this.database.dialect, COLUMNS, rows);
  }
}

/** Bytes belong to an event within one source. */
const nameOfRow = ({ source, sha256 }: Pick<ClaimedRow, "source" | "sha256">) => `${source}\n${sha256}`;
const nameOfClaim = ({ key, sha256 }: PendingClaim) => nameOfRow({ source: key.source, sha256 });
