import { CompiledQuery, sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import { Area } from "./database.ts";
import { cutLeases, type Lease, latestPlausibleLeaseEnd } from "./lease.ts";
import type { Dialect } from "./transaction.ts";

export type PreparationClaim =
  /** `completed`: the event has its record, and nothing is left to prepare. */
  | { readonly state: "claimed" | "completed" | "leased" }
  | { readonly state: "prepared"; readonly encrypted: Uint8Array };

const OF_EVENT = "WHERE event_id = $1 AND source = $2";
const RECORDED = `EXISTS (SELECT 1 FROM oncehook_records ${OF_EVENT})`;
const COLUMNS = "(event_id, source, created_at, lease_owner, leased_until)";
const UNLESS_LEASED = `ON CONFLICT (event_id, source)
  DO UPDATE SET lease_owner = excluded.lease_owner, leased_until = excluded.leased_until
  WHERE p.encrypted_result IS NULL AND (p.leased_until IS NULL OR p.leased_until <= $3)`;

/**
 * SQLite has one writer: no record can be committed between the look for it and the claim. On PostgreSQL the statement does not
 * see what is committed while it waits for the row that a completion deletes.
 */
const CLAIM = {
  sqlite: `INSERT INTO oncehook_preparations AS p ${COLUMNS} SELECT $1, $2, $3, $4, $5
    WHERE NOT ${RECORDED} ${UNLESS_LEASED}`,
  postgres: `INSERT INTO oncehook_preparations AS p ${COLUMNS} VALUES ($1, $2, $3, $4, $5) ${UNLESS_LEASED}`,
};
const SELECT_CLAIM_STATUS = `SELECT ${RECORDED} AS recorded,
  (SELECT encrypted_result FROM oncehook_preparations ${OF_EVENT}) AS encrypted,
  (SELECT leased_until FROM oncehook_preparations ${OF_EVENT}) AS until`;
const SAVE = `UPDATE oncehook_preparations SET encrypted_result = $4, lease_owner = NULL, leased_until = NULL
  ${OF_EVENT} AND lease_owner = $3`;
const RELEASE = `DELETE FROM oncehook_preparations ${OF_EVENT} AND lease_owner = $3 AND encrypted_result IS NULL`;

interface ClaimStatusRow {
  readonly recorded: boolean | number;
  readonly encrypted: Uint8Array | null;
  readonly until: string | null;
}

/** Results of `prepare` steps: outside work that must happen once although its transaction may roll back. */
export class Preparations extends Area {
  /** "claimed" is durable, and no record of the event was there then. */
  async claim(key: EventKey, lease: Lease): Promise<PreparationClaim> {
    const { owner, now, until } = lease;
    const { dialect } = this.database;
    if ((await this.change(CLAIM[dialect], [key.eventId, key.source, now, owner, until])) === 0)
      return this.explainUnclaimed(key, lease);
    if (dialect === "sqlite" || !(await this.status(key))?.recorded) return { state: "claimed" };
    await this.release(key, owner);
    return { state: "completed" };
  }

  /** Returns false if another process took over the lease. */
  async save({ eventId, source }: EventKey, owner: string, encrypted: Uint8Array): Promise<boolean> {
    return (await this.change(SAVE, [eventId, source, owner, encrypted])) > 0;
  }

  /** Releases an unfinished claim, so that the next delivery may try at once. */
  async release({ eventId, source }: EventKey, owner: string): Promise<void> {
    await this.change(RELEASE, [eventId, source, owner]);
  }

  async get(key: EventKey): Promise<Uint8Array | undefined> {
    return (await this.status(key))?.encrypted ?? undefined;
  }

  private async explainUnclaimed(key: EventKey, { now, until }: Lease): Promise<PreparationClaim> {
    const status = await this.status(key);
    if (status?.recorded) return { state: "completed" };
    if (status?.encrypted) return { state: "prepared", encrypted: status.encrypted };
    const leaseMs = until.getTime() - now.getTime();
    if (Number(new Date(status?.until ?? 0)) <= Number(latestPlausibleLeaseEnd(now, leaseMs)))
      return { state: "leased" };
    const where = sql`event_id = ${key.eventId} AND source = ${key.source}`;
    await cutLeases(this.database, { table: "oncehook_preparations", where }, leaseMs, now);
    return { state: "leased" };
  }

  private async status({ eventId, source }: EventKey): Promise<ClaimStatusRow | undefined> {
    const { read, dialect } = this.database;
    const statement = prepared(dialect, SELECT_CLAIM_STATUS, [eventId, source]);
    return (await read.executeQuery<ClaimStatusRow>(statement)).rows[0];
  }

  /** @returns how many rows it changed */
  private async change(text: string, values: readonly unknown[]): Promise<number> {
    const { write, dialect } = this.database;
    const { numAffectedRows } = await write.executeQuery(prepared(dialect, text, values));
    return Number(numAffectedRows ?? 0n);
  }
}

/** Callbacks wait for these statements: to build one at each call would take longer than to run it. */
function prepared(dialect: Dialect, text: string, values: readonly unknown[]): CompiledQuery {
  return CompiledQuery.raw(dialect === "sqlite" ? text.replace(/\$(?=\d)/g, "?") : text, [...values]);
}
