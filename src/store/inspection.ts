import { sql } from "kysely";
import type { Diagnosis, FailureState, RefusedSource } from "../domain/index.ts";
import { CredentialUses, type StoredCredentialUse } from "./areas/access.ts";
import { Failures } from "./areas/failures.ts";
import { Outbox } from "./areas/outbox.ts";
import { RefusedSources } from "./areas/refused-sources.ts";
import { readSettings, type SlowHandler, slowHandlersOf } from "./areas/settings.ts";
import { BACKFILL_SCHEMA, StoredEvents, type StoredType } from "./areas/stored-events.ts";
import { bindQuery, type Execute, postgresDialect, sqliteDialect } from "./bind-query.ts";
import { type Database, select } from "./database.ts";
import { outdatedSchema } from "./migrations/apply-migrations.ts";
import { MaintenanceError } from "./store-errors.ts";
import type { Dialect } from "./transaction.ts";

export interface InspectOptions {
  /** PostgreSQL: the schema of its tables. */
  readonly schema?: string | undefined;
  /** Names of tables that handlers would make. */
  readonly tables?: readonly string[];
  /** Names of the handlers that may have stored events to run; undefined stands for those without one. */
  readonly handlers?: readonly (string | undefined)[];
}

/** The result of an inspection, which changes nothing. */
export type Inspection = {
  /** The requested tables that exist, in the place where they would be made. */
  readonly tables: readonly string[];
} /** The database, or this service's tables in it, do not exist yet; the first start makes them. */ & (
  | { readonly exists: false }
  | ({ readonly exists: true; readonly durabilityWarnings: readonly string[] } & ServiceInspection)
);

export interface ServiceInspection {
  readonly schema: number;
  readonly handlerMigrations: readonly string[];
  readonly environment: string | undefined;
  readonly baseUrl: string | undefined;
  /** The id of the encryption key it was last used with. */
  readonly keyId: string | undefined;
  readonly credentialUses: readonly StoredCredentialUse[];
  readonly slowHandlers: readonly SlowHandler[];
  /** None in a database of an earlier version, which has no table of what was backfilled. */
  readonly storedTypes: readonly StoredType[];
  readonly failures: Readonly<Record<FailureState, number>>;
  /** Sources whose callbacks were authentic, and are all refused since. */
  readonly refusedSources: readonly RefusedSource[];
  readonly waitingByChannel: ReadonlyMap<string, number>;
  /** Callbacks that were not authentic, of the newest entries of the log; the newest first. */
  readonly refused: readonly RefusedCallback[];
}

export interface RefusedCallback {
  readonly source: string;
  /** In ISO 8601. */
  readonly receivedAt: string;
  readonly diagnosis: Diagnosis;
}

export const SELECT_SCHEMA = "SELECT max(number) AS number FROM oncehook_schema";
const SELECT_REFUSED = sql`SELECT source, received_at, diagnosis FROM
  (SELECT id, source, received_at, diagnosis FROM oncehook_callbacks ORDER BY id DESC LIMIT 1000) AS newest
  WHERE diagnosis IS NOT NULL ORDER BY id DESC`;

/** A database that one connection reads and nothing writes. */
export function readingDatabase(dialect: Dialect, execute: Execute): Database {
  const read = bindQuery(dialect === "sqlite" ? sqliteDialect : postgresDialect, execute);
  const transact: Database["transact"] = (work) => work(read);
  return {
    dialect,
    read,
    readFirst: read,
    write: read,
    transact,
    transientReason: () => undefined,
    isDataError: () => false,
  };
}

/** Reads this service's tables, which exist. @throws MaintenanceError for a database that this version cannot read */
export async function inspectTables(database: Database, { handlers = [] }: InspectOptions): Promise<ServiceInspection> {
  const schema = await currentSchema(database);
  const settings = await readSettings(database.read);
  const applied = await select<{ name: string }>(database, sql`SELECT name FROM oncehook_handler_migrations`);
  const storedEvents = new StoredEvents(database);
  const hasReplays = schema >= REPLAY_SCHEMA;
  const refused = await select<RefusedCallback & { diagnosis: string }>(database, SELECT_REFUSED);
  return {
    schema,
    handlerMigrations: applied.map(({ name }) => name),
    environment: settings.get("environment"),
    baseUrl: settings.get("base_url"),
    keyId: settings.get("key_id"),
    credentialUses: await new CredentialUses(database).list(),
    slowHandlers: slowHandlersOf(settings),
    storedTypes: schema < BACKFILL_SCHEMA ? [] : await storedEvents.waiting(handlers, { hasReplays }),
    failures: await new Failures(database).counts(),
    refusedSources: await new RefusedSources(database).list(new Date()),
    waitingByChannel: await new Outbox(database).waitingByChannel(),
    refused: refused.map((row) => ({ ...row, diagnosis: JSON.parse(row.diagnosis) })),
  };
}

/** A condition that holds between the rows of a database at any instant, after any fault of a process. */
export interface Invariant {
  readonly name: string;
  readonly message: string;
  /**
   * Selects what breaks it, as the column `what`; nothing where all is well. The same text for both databases. `@since` stands
   * for a time that no retention reaches: what is younger has not been deleted. `@handled` leaves out the log entries `c` whose
   * event was only stored. A backfill has taken their record away, and the event runs after them. `@replay` tells the
   * notifications of an event's replays apart.
   */
  readonly select: string;
}

export interface InvariantResult extends Omit<Invariant, "select"> {
  readonly violations: number;
  readonly examples: readonly string[];
}

export const MAX_EXAMPLES = 5;

/** Rows go by their age: a row may outlive the one that it names. Only a young row must have it. */
export const INVARIANTS: readonly Invariant[] = [
  {
    name: "records-completed",
    message: "every committed record is completed and has a result",
    select: `SELECT event_id AS what FROM oncehook_records
      WHERE status <> 'completed' OR processed_at IS NULL OR result IS NULL OR result NOT LIKE '{%}'`,
  },
  {
    name: "one-success",
    message: "no event has two log entries with the outcome success",
    select: `SELECT event_id AS what FROM oncehook_callbacks c
      WHERE outcome = 'success' AND event_id IS NOT NULL @handled GROUP BY source, event_id HAVING count(*) > 1`,
  },
  {
    name: "log-of-record",
    message: "each record's log entry exists and has the outcome success",
    select: `SELECT r.event_id AS what FROM oncehook_records r LEFT JOIN oncehook_callbacks c ON c.id = r.callback_id
      WHERE r.callback_id IS NOT NULL AND (
        (c.id IS NULL AND r.created_at > @since)
        OR c.event_id <> r.event_id OR c.source <> r.source OR c.outcome <> 'success')`,
  },
  {
    name: "record-of-log",
    message: "each log entry written with a record has that record",
    select: `SELECT c.event_id AS what FROM oncehook_callbacks c LEFT JOIN oncehook_records r ON r.callback_id = c.id
      WHERE c.with_record = 1 AND r.id IS NULL @handled`,
  },
  {
    name: "failures-open",
    message: "no event with a record is also an exhausted or rejected failure",
    select: `SELECT f.event_id AS what FROM oncehook_failures f
      JOIN oncehook_records r ON r.event_id = f.event_id AND r.source = f.source
      WHERE f.state IN ('exhausted', 'rejected')`,
  },
  {
    name: "failures-scheduled",
    message: "a waiting failure has a retry time, and an exhausted or rejected one has none",
    select: `SELECT event_id AS what FROM oncehook_failures
      WHERE (state = 'waiting' AND next_attempt_at IS NULL)
      OR (state IN ('exhausted', 'rejected') AND next_attempt_at IS NOT NULL)`,
  },
  {
    name: "notifications-of-records",
    message: "a notification, other than an alert, belongs to an event that has a record",
    select: `SELECT n.event_id AS what FROM oncehook_notifications n
      LEFT JOIN oncehook_records r ON r.event_id = n.event_id AND r.source = n.source
      WHERE r.id IS NULL AND n.position > 0 AND n.created_at > @since`,
  },
  {
    name: "notifications-once",
    message: "no notification of an event exists twice",
    select: `SELECT event_id AS what FROM oncehook_notifications
      GROUP BY source, event_id, position@replay HAVING count(*) > 1`,
  },
  {
    name: "deliveries-fanned-out",
    message: "a notification with deliveries is marked as fanned out",
    select: `SELECT n.event_id AS what FROM oncehook_notifications n
      WHERE n.fanned_out_at IS NULL AND EXISTS (SELECT 1 FROM oncehook_deliveries d WHERE d.notification_id = n.id)`,
  },
  {
    name: "deliveries-timed",
    message: "exactly the delivered deliveries have a delivery time",
    select: `SELECT CAST(notification_id AS text) || ' ' || channel AS what FROM oncehook_deliveries
      WHERE (state = 'delivered' AND delivered_at IS NULL) OR (state <> 'delivered' AND delivered_at IS NOT NULL)`,
  },
];

/** The schema's step after which a notification may be of a replay. */
const REPLAY_SCHEMA = 34;

const HANDLED = `AND NOT EXISTS (SELECT 1 FROM oncehook_backfilled b
  WHERE b.event_id = c.event_id AND b.source = c.source AND c.received_at <= b.taken_at)`;

/** The shortest retention is a day. */
const RECENT_MS = 12 * 3_600_000;

/** Facts that distinguish one database from another, for a person who has several. */
export interface DatabaseContents {
  /** Which `APP_ENV` it belongs to. */
  readonly environment: string | null;
  readonly records: number;
  /** When the newest of them came, in ISO 8601. */
  readonly newestRecordAt: string | null;
}

export interface IntegrityReport {
  /** Undefined where nothing can be read any more. */
  readonly contents: DatabaseContents | undefined;
  readonly invariants: readonly InvariantResult[];
}

const SELECT_CONTENTS = sql`SELECT
  (SELECT value FROM oncehook_settings WHERE name = 'environment') AS environment,
  (SELECT count(*) FROM oncehook_records) AS records,
  (SELECT created_at FROM oncehook_records ORDER BY id DESC LIMIT 1) AS newest_record_at`;

/** While it may be in use: each invariant reads a snapshot. @throws MaintenanceError as `inspectTables` does */
export async function checkInvariants(database: Database): Promise<IntegrityReport> {
  const schema = await currentSchema(database);
  const since = new Date(Date.now() - RECENT_MS).toISOString();
  const invariants: InvariantResult[] = [];
  for (const { name, message, select: broken } of INVARIANTS) {
    const handled = schema < BACKFILL_SCHEMA ? "" : HANDLED;
    const replay = schema < REPLAY_SCHEMA ? "" : ", event_replay_id";
    const text = broken.replaceAll("@since", `'${since}'`).replaceAll("@handled", handled);
    const found = sql.raw(text.replaceAll("@replay", replay));
    const counted = sql`SELECT what, count(*) OVER () AS broken FROM (${found}) AS found LIMIT ${sql.lit(MAX_EXAMPLES)}`;
    const rows = await select<{ what: string; broken: number }>(database, counted);
    const examples = rows.map(({ what }) => String(what));
    invariants.push({ name, message, violations: rows[0]?.broken ?? 0, examples });
  }
  const [contents] = await select<DatabaseContents>(database, SELECT_CONTENTS);
  return { contents, invariants };
}

async function currentSchema(database: Database): Promise<number> {
  const [newest] = await select<{ number: number }>(database, sql.raw(SELECT_SCHEMA));
  return assertCurrent(newest);
}

/** @returns the schema's number @throws MaintenanceError for a database that this version cannot read */
export function assertCurrent(newest: Readonly<Record<string, unknown>> | undefined): number {
  const schema = Number(newest?.number ?? 0);
  const outdated = outdatedSchema(schema);
  if (outdated !== undefined) throw new MaintenanceError(outdated);
  return schema;
}
