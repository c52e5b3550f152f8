import type { EventKey } from "../../domain/index.ts";
import type { Lease } from "../lease.ts";
import type { PreparationClaim, PreparationStore } from "../preparation-store.ts";
import type { StoredTime } from "../tables.ts";
import type { Access } from "./access.ts";
import { isoTime } from "./rows.ts";
import { latestBelievable } from "./unleased.ts";
import { type Written, written } from "./written-statement.ts";

const OF_EVENT = "WHERE event_id = $1 AND source = $2";
const RECORDED = `EXISTS (SELECT 1 FROM oncehook_records ${OF_EVENT})`;
const COLUMNS = "(event_id, source, created_at, lease_owner, leased_until)";
const UNLESS_HELD = `ON CONFLICT (event_id, source)
  DO UPDATE SET lease_owner = excluded.lease_owner, leased_until = excluded.leased_until
  WHERE p.sealed_result IS NULL AND (p.leased_until IS NULL OR p.leased_until <= $3)`;

/**
 * The claim of a step. On SQLite, with its one writer, a record that is not there when it is written cannot come before it.
 * On PostgreSQL the statement does not see what is committed while it waits for the row that a completion deletes.
 */
const CLAIM = {
  sqlite: `INSERT INTO oncehook_preparations AS p ${COLUMNS} SELECT $1, $2, $3, $4, $5
    WHERE NOT ${RECORDED} ${UNLESS_HELD}`,
  postgres: `INSERT INTO oncehook_preparations AS p ${COLUMNS} VALUES ($1, $2, $3, $4, $5) ${UNLESS_HELD}`,
};
const STANDING = `SELECT ${RECORDED} AS recorded,
  (SELECT sealed_result FROM oncehook_preparations ${OF_EVENT}) AS sealed,
  (SELECT leased_until FROM oncehook_preparations ${OF_EVENT}) AS until`;
const SAVE = `UPDATE oncehook_preparations SET sealed_result = $4, lease_owner = NULL, leased_until = NULL
  ${OF_EVENT} AND lease_owner = $3`;
/** A lease that was given before the clock was set back ends a lease from now at the latest. */
const CUT = `UPDATE oncehook_preparations SET leased_until = $3 ${OF_EVENT} AND leased_until > $4`;
const RELEASE = `DELETE FROM oncehook_preparations ${OF_EVENT} AND lease_owner = $3 AND sealed_result IS NULL`;

interface Standing {
  readonly recorded: boolean | number;
  readonly sealed: Uint8Array | null;
  readonly until: StoredTime | null;
}

interface Statements {
  readonly claim: Written<never>;
  readonly standing: Written<Standing>;
  readonly save: Written<never>;
  readonly cut: Written<never>;
  readonly release: Written<never>;
}

/** The leased and stored results of `prepare` steps. */
export function preparationQueries(access: Access): PreparationStore {
  const { dialect, read, write } = access;
  const statements: Statements = {
    claim: written(access, write, CLAIM[dialect]),
    standing: written<Standing>(access, read, STANDING),
    save: written(access, write, SAVE),
    cut: written(access, write, CUT),
    release: written(access, write, RELEASE),
  };
  const release = async ({ eventId, source }: EventKey, owner: string) => {
    await statements.release(eventId, source, owner);
  };
  return {
    async claim(key, lease) {
      if (!(await isClaimed(statements, key, lease))) return unclaimed(statements, key, lease);
      if (dialect === "sqlite" || !(await isRecorded(statements, key))) return { state: "claimed" };
      await release(key, lease.owner);
      return { state: "completed" };
    },
    async save({ eventId, source }, owner, sealed) {
      const { changes } = await statements.save(eventId, source, owner, sealed);
      return changes > 0;
    },
    release,
    async get(key) {
      const { rows } = await statements.standing(key.eventId, key.source);
      return rows[0]?.sealed ?? undefined;
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

async function isRecorded({ standing }: Statements, { eventId, source }: EventKey): Promise<boolean> {
  const { rows } = await standing(eventId, source);
  return Boolean(rows[0]?.recorded);
}

async function unclaimed(statements: Statements, key: EventKey, lease: Lease): Promise<PreparationClaim> {
  const { now, until } = lease;
  const { leasedUntil, ...claim } = await standing(statements, key);
  const latest = latestBelievable(now, until.getTime() - now.getTime()).toISOString();
  if (claim.state === "leased" && leasedUntil !== null && leasedUntil > latest)
    await statements.cut(key.eventId, key.source, until.toISOString(), latest);
  return claim;
}

/** How far an event is whose step cannot be claimed. */
async function standing(
  statements: Statements,
  { eventId, source }: EventKey,
): Promise<PreparationClaim & { readonly leasedUntil: string | null }> {
  const { rows } = await statements.standing(eventId, source);
  const [row] = rows;
  const leasedUntil = row?.until == null ? null : isoTime(row.until);
  if (row?.recorded) return { state: "completed", leasedUntil };
  const sealed = row?.sealed ?? undefined;
  return sealed === undefined ? { state: "leased", leasedUntil } : { state: "prepared", sealed, leasedUntil };
}
