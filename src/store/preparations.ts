import { CompiledQuery, type Kysely } from "kysely";
import type { EventKey } from "../domain/index.ts";
import { isoTime } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { Lease } from "./lease.ts";
import { latestPlausibleLeaseEnd } from "./lease.ts";
import type { StoredTime, Tables } from "./tables.ts";

/** Results of `prepare` steps: outside work that must happen once although its transaction may roll back. */
export interface PreparationStore {
  /** "claimed" is durable, and no record of the event was there then. */
  claim(key: EventKey, lease: Lease): Promise<PreparationClaim>;
  /** Returns false if another process took over the lease. */
  save(key: EventKey, owner: string, encrypted: Uint8Array): Promise<boolean>;
  /** Releases an unfinished claim, so that the next delivery may try at once. */
  release(key: EventKey, owner: string): Promise<void>;
  get(key: EventKey): Promise<Uint8Array | undefined>;
}

export type PreparationClaim =
  | { readonly state: "claimed" }
  /** The event has its record, and nothing is left to prepare. */
  | { readonly state: "completed" }
  | { readonly state: "prepared"; readonly encrypted: Uint8Array }
  | { readonly state: "leased" };

const OF_EVENT = "WHERE event_id = $1 AND source = $2";
const RECORDED = `EXISTS (SELECT 1 FROM oncehook_records ${OF_EVENT})`;
const COLUMNS = "(event_id, source, created_at, lease_owner, leased_until)";
const UNLESS_LEASED = `ON CONFLICT (event_id, source)
  DO UPDATE SET lease_owner = excluded.lease_owner, leased_until = excluded.leased_until
  WHERE p.sealed_result IS NULL AND (p.leased_until IS NULL OR p.leased_until <= $3)`;

/**
 * The claim of a step. On SQLite, with its one writer, a record that is not there when it is written cannot come before it.
 * On PostgreSQL the statement does not see what is committed while it waits for the row that a completion deletes.
 */
const CLAIM = {
  sqlite: `INSERT INTO oncehook_preparations AS p ${COLUMNS} SELECT $1, $2, $3, $4, $5
    WHERE NOT ${RECORDED} ${UNLESS_LEASED}`,
  postgres: `INSERT INTO oncehook_preparations AS p ${COLUMNS} VALUES ($1, $2, $3, $4, $5) ${UNLESS_LEASED}`,
};
const SELECT_CLAIM_STATUS = `SELECT ${RECORDED} AS recorded,
  (SELECT sealed_result FROM oncehook_preparations ${OF_EVENT}) AS encrypted,
  (SELECT leased_until FROM oncehook_preparations ${OF_EVENT}) AS until`;
const SAVE = `UPDATE oncehook_preparations SET sealed_result = $4, lease_owner = NULL, leased_until = NULL
  ${OF_EVENT} AND lease_owner = $3`;
/** A lease that was given before the clock was set back ends a lease from now at the latest. */
const CUT = `UPDATE oncehook_preparations SET leased_until = $3 ${OF_EVENT} AND leased_until > $4`;
const RELEASE = `DELETE FROM oncehook_preparations ${OF_EVENT} AND lease_owner = $3 AND sealed_result IS NULL`;

interface ClaimStatusRow {
  readonly recorded: boolean | number;
  readonly encrypted: Uint8Array | null;
  readonly until: StoredTime | null;
}

interface Statements {
  readonly claim: PreparedStatement<never>;
  readonly claimStatus: PreparedStatement<ClaimStatusRow>;
  readonly save: PreparedStatement<never>;
  readonly cut: PreparedStatement<never>;
  readonly release: PreparedStatement<never>;
}

/** The leased and stored results of `prepare` steps. */
export function preparationQueries(database: Database): PreparationStore {
  const { dialect, read, write } = database;
  const statements: Statements = {
    claim: prepareStatement(database, write, CLAIM[dialect]),
    claimStatus: prepareStatement<ClaimStatusRow>(database, read, SELECT_CLAIM_STATUS),
    save: prepareStatement(database, write, SAVE),
    cut: prepareStatement(database, write, CUT),
    release: prepareStatement(database, write, RELEASE),
  };
  const release = async ({ eventId, source }: EventKey, owner: string) => {
    await statements.release(eventId, source, owner);
  };
  return {
    async claim(key, lease) {
      if (!(await isClaimed(statements, key, lease))) return explainUnclaimed(statements, key, lease);
      if (dialect === "sqlite" || !(await isRecorded(statements, key))) return { state: "claimed" };
      await release(key, lease.owner);
      return { state: "completed" };
    },
    async save({ eventId, source }, owner, encrypted) {
      const { changes } = await statements.save(eventId, source, owner, encrypted);
      return changes > 0;
    },
    release,
    async get(key) {
      const { rows } = await statements.claimStatus(key.eventId, key.source);
      return rows[0]?.encrypted ?? undefined;
    },
  };
}

async function isClaimed(
  { claim }: Statements,
  { eventId, source }: EventKey,
  { owner, now, until }: Lease,
): Promise<boolean> {
  const { changes } = await claim(eventId, source, now.toISOString(), owner, until.toISOString());
  return changes > 0;
}

async function isRecorded({ claimStatus }: Statements, { eventId, source }: EventKey): Promise<boolean> {
  const { rows } = await claimStatus(eventId, source);
  return Boolean(rows[0]?.recorded);
}

async function explainUnclaimed(
  statements: Statements,
  key: EventKey,
  lease: Lease,
): Promise<PreparationClaim> {
  const { now, until } = lease;
  const { leasedUntil, ...claim } = await readClaimStatus(statements, key);
  const latest = latestPlausibleLeaseEnd(now, until.getTime() - now.getTime()).toISOString();
  if (claim.state === "leased" && leasedUntil !== null && leasedUntil > latest)
    await statements.cut(key.eventId, key.source, until.toISOString(), latest);
  return claim;
}

/** How far an event is whose step cannot be claimed. */
async function readClaimStatus(
  statements: Statements,
  { eventId, source }: EventKey,
): Promise<PreparationClaim & { readonly leasedUntil: string | null }> {
  const { rows } = await statements.claimStatus(eventId, source);
  const [row] = rows;
  const leasedUntil = row?.until == null ? null : isoTime(row.until);
  if (row?.recorded) return { state: "completed", leasedUntil };
  const encrypted = row?.encrypted ?? undefined;
  return encrypted === undefined
    ? { state: "leased", leasedUntil }
    : { state: "prepared", encrypted, leasedUntil };
}

/** Runs a statement with these values. */
type PreparedStatement<Row> = (
  ...values: readonly unknown[]
) => Promise<{ readonly rows: readonly Row[]; readonly changes: number }>;

/**
 * A statement that callbacks wait for, written once instead of built at each call, which takes longer than running it.
 * @param text with `$1` for the first value, as PostgreSQL has it
 */
function prepareStatement<Row = never>(
  { dialect }: Database,
  connection: Kysely<Tables>,
  text: string,
): PreparedStatement<Row> {
  const sql = dialect === "sqlite" ? text.replace(/\$(?=\d)/g, "?") : text;
  return async (...values) => {
    const { rows, numAffectedRows = 0n } = await connection.executeQuery<Row>(
      CompiledQuery.raw(sql, [...values]),
    );
    return { rows, changes: Number(numAffectedRows) };
  };
}
