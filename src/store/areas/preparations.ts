import { sql } from "kysely";
import { compareKeys, type EventKey, keyText } from "../../domain/index.ts";
import { BATCH_TIMEOUT_MS, type BatchedRequest, Batches, WRITING_BATCHES } from "../batches.ts";
import { Area, type Database, equal, rowList, run } from "../database.ts";
import { cutLeases, type Lease, latestPlausibleLeaseEnd, NO_LEASE } from "./lease.ts";

export type PreparationClaim =
  /** `completed`: the event has its record, and nothing is left to prepare. */
  | { readonly state: "claimed" | "completed" | "leased" }
  | { readonly state: "prepared"; readonly encrypted: Uint8Array };

interface PendingClaim extends BatchedRequest<PreparationStatus> {
  readonly lease: Lease;
}

/** Resolves to whether the lease was still the owner's. */
interface PendingResult extends BatchedRequest<boolean> {
  readonly owner: string;
  readonly encrypted: Uint8Array;
}

interface PreparationStatus extends EventKey {
  readonly isRecorded: boolean | number;
  readonly encryptedResult: Uint8Array | null;
  readonly leaseOwner: string | null;
  readonly leasedUntil: string | null;
}

/**
 * Results of `prepare` steps: outside work that must happen once although its transaction may roll back. Each step is claimed,
 * and its result stored, in a commit before its event's. The steps of many events share them.
 */
export class Preparations extends Area {
  private readonly claims: Batches<PendingClaim, PreparationStatus>;
  private readonly results: Batches<PendingResult, boolean>;

  constructor(database: Database) {
    super(database);
    const rules = { ...WRITING_BATCHES, isOnePerEvent: true };
    this.claims = new Batches({ ...rules, run: (claims) => this.claimAll(claims) });
    this.results = new Batches({ ...rules, run: (results) => this.saveAll(results) });
  }

  /** "claimed" is durable, and no record of the event was there then. */
  async claim(key: EventKey, lease: Lease): Promise<PreparationClaim> {
    const status = await this.claims.ask({ key, lease, deadline: performance.now() + BATCH_TIMEOUT_MS });
    if (status.isRecorded) {
      if (status.leaseOwner === lease.owner) await this.release(key, lease.owner);
      return { state: "completed" };
    }
    if (status.leaseOwner === lease.owner) return { state: "claimed" };
    if (status.encryptedResult !== null) return { state: "prepared", encrypted: status.encryptedResult };
    await this.cutLease(key, lease, status.leasedUntil);
    return { state: "leased" };
  }

  /** Returns false if another process took over the lease. */
  save(key: EventKey, owner: string, encrypted: Uint8Array): Promise<boolean> {
    return this.results.ask({ key, owner, encrypted, deadline: performance.now() + BATCH_TIMEOUT_MS });
  }

  /** Releases an unfinished claim, so that the next delivery may try at once. */
  async release({ eventId, source }: EventKey, owner: string): Promise<void> {
    await this.write`DELETE FROM oncehook_preparations
      WHERE event_id = ${eventId} AND source = ${source} AND lease_owner = ${owner} AND encrypted_result IS NULL`;
  }

  async get({ eventId, source }: EventKey): Promise<Uint8Array | undefined> {
    const [found] = await this.read<Pick<PreparationStatus, "encryptedResult">>`SELECT encrypted_result
      FROM oncehook_preparations WHERE event_id = ${eventId} AND source = ${source}`;
    return found?.encryptedResult ?? undefined;
  }

  /**
   * A prepared or leased row is not touched: on PostgreSQL the group that completes the event may have locked it. Only the next
   * statement sees the rows that were committed while the INSERT waited for such a lock.
   */
  private claimAll(claims: readonly PendingClaim[]): Promise<PreparationStatus[]> {
    const rows = inOrder(claims).map(({ key: { eventId, source }, lease: { owner, now, until } }) => {
      return { event_id: eventId, source, owner, at: now.toISOString(), until: until.toISOString() };
    });
    const columns = {
      event_id: "text",
      source: "text",
      owner: "text",
      at: "timestamptz",
      until: "timestamptz",
    } as const;
    const given = rowList(this.database.dialect, columns, rows);
    const claiming = sql`INSERT INTO oncehook_preparations AS p (event_id, source, created_at, lease_owner, leased_until)
      SELECT event_id, source, at, owner, until FROM ${given} AS g
      WHERE NOT EXISTS (SELECT 1 FROM oncehook_preparations AS h
        WHERE h.event_id = g.event_id AND h.source = g.source
          AND (h.encrypted_result IS NOT NULL OR h.leased_until > g.at))
      ON CONFLICT (event_id, source)
        DO UPDATE SET lease_owner = excluded.lease_owner, leased_until = excluded.leased_until
        WHERE p.encrypted_result IS NULL AND (p.leased_until IS NULL OR p.leased_until <= excluded.created_at)`;
    const looking = sql`SELECT g.event_id, g.source, encrypted_result, lease_owner, leased_until,
        EXISTS (SELECT 1 FROM oncehook_records AS r
          WHERE r.event_id = g.event_id AND r.source = g.source) AS is_recorded
      FROM ${given} AS g LEFT JOIN oncehook_preparations AS p ON p.event_id = g.event_id AND p.source = g.source`;
    return this.database.transact(async (query) => {
      await run(query, claiming);
      const { rows: found } = await run<PreparationStatus>(query, looking);
      const byName = new Map(found.map((status) => [keyText(status), status]));
      return claims.map(({ key }) => byName.get(keyText(key)) as PreparationStatus);
    });
  }

  private async saveAll(results: readonly PendingResult[]): Promise<boolean[]> {
    const rows = inOrder(results).map(({ key, owner, encrypted }) => ({
      id: key.eventId,
      platform: key.source,
      owner,
      result: Buffer.from(encrypted).toString("hex"),
    }));
    const { dialect } = this.database;
    // Names that its table does not have: RETURNING knows both.
    const columns = { id: "text", platform: "text", owner: "text", result: "text" } as const;
    const given = rowList(dialect, columns, rows);
    const bytes = dialect === "postgres" ? sql`decode(g.result, 'hex')` : sql`unhex(g.result)`;
    const { rows: saved } = await this.write<EventKey>`UPDATE oncehook_preparations
      SET encrypted_result = ${bytes}, ${NO_LEASE} FROM ${given} AS g
      WHERE event_id = g.id AND source = g.platform AND lease_owner = g.owner RETURNING event_id, source`;
    const names = new Set(saved.map(keyText));
    return results.map(({ key }) => names.has(keyText(key)));
  }

  /** Of a clock that was set back since. */
  private async cutLease({ eventId, source }: EventKey, { now, until }: Lease, leasedUntil: string | null) {
    const leaseMs = until.getTime() - now.getTime();
    if (Number(new Date(leasedUntil ?? 0)) <= Number(latestPlausibleLeaseEnd(now, leaseMs))) return;
    const where = equal({ eventId, source });
    await cutLeases(this.database, { table: "oncehook_preparations", where }, leaseMs, now);
  }
}

/** Two batches with the same events, of two processes, would deadlock in another order. */
function inOrder<Request extends BatchedRequest<never>>(requests: readonly Request[]) {
  return requests.toSorted((one, other) => compareKeys(one.key, other.key));
}
