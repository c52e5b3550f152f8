import { type Diagnosis, type RefusedSource, refusedSources, suspectSources } from "../domain/index.ts";
import { outdatedSchema } from "./migrations/apply-migrations.ts";
import { type SlowHandler, slowHandlersOf } from "./settings.ts";
import { MaintenanceError } from "./store-errors.ts";
import { SELECT_STORED_TYPES, STORED_EVENTS, type StoredType } from "./stored-events.ts";

export interface InspectOptions {
  /** PostgreSQL: the schema of its tables. */
  readonly schema?: string | undefined;
  /** Names of tables that handlers would make. */
  readonly tables?: readonly string[];
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
  readonly storedTypes: readonly StoredType[];
  /** Sources whose callbacks are all refused for an hour. */
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

/** When a secret was accepted, and since when it has been a previous one, in ISO 8601; null for never. */
export interface StoredCredentialUse {
  readonly method: string;
  readonly fingerprint: string;
  readonly previousSince: string | null;
  readonly lastUsedAt: string | null;
}

type Select = (text: string) => readonly Row[] | Promise<readonly Row[]>;

type Row = Readonly<Record<string, unknown>>;

export const SELECT_SCHEMA = "SELECT max(number) AS number FROM oncehook_schema";
const SELECT_USES = "SELECT method, fingerprint, previous_since, last_used_at FROM oncehook_credential_uses";
const COUNT_WAITING =
  "SELECT channel, count(*) AS waiting FROM oncehook_deliveries WHERE state = 'waiting' GROUP BY channel ORDER BY channel";
const SELECT_REFUSED = `SELECT source, received_at, diagnosis FROM
  (SELECT id, source, received_at, diagnosis FROM oncehook_callbacks ORDER BY id DESC LIMIT 1000) AS newest
  WHERE diagnosis IS NOT NULL ORDER BY id DESC`;

const selectOutcomes = (stepSeconds: number, from: number): string =>
  `SELECT source, outcome, slot, sum(count) AS count FROM oncehook_rollups
  WHERE step_seconds = ${stepSeconds} AND slot >= ${from} GROUP BY slot, source, outcome`;

/** Reads this service's tables, which exist. The statements have one text for both databases. */
export async function inspectTables(all: Select): Promise<ServiceInspection> {
  const [newest] = await all(SELECT_SCHEMA);
  const schema = Number(newest?.number ?? 0);
  // An outdated database may lack the tables.
  const select = async (sql: string) => (outdatedSchema(schema) === undefined ? await all(sql) : []);
  const settings = await all("SELECT name, value FROM oncehook_settings");
  const stored = new Map(settings.map((row) => [String(row.name), String(row.value)]));
  const rows = [...stored].map(([name, value]) => ({ name, value }));
  const applied = await select("SELECT name FROM oncehook_handler_migrations");
  const hasStored = applied.some(({ name }) => name === STORED_EVENTS);
  const storedTypes = hasStored ? await select(SELECT_STORED_TYPES) : [];
  const waiting = await select(COUNT_WAITING);
  const refused = await select(SELECT_REFUSED);
  const now = Math.floor(Date.now() / 1_000);
  const minutes = (await select(selectOutcomes(60, now - 3_660))).map(toPeriodCount);
  const quarters = (await select(selectOutcomes(900, now - 90_000))).map(toPeriodCount);
  return {
    schema,
    handlerMigrations: applied.map(({ name }) => String(name)),
    environment: stored.get("environment"),
    baseUrl: stored.get("base_url"),
    keyId: stored.get("key_id"),
    credentialUses: (await select(SELECT_USES)).map(toCredentialUse),
    slowHandlers: slowHandlersOf(rows),
    storedTypes: storedTypes.map((row) => ({ ...(row as unknown as StoredType), count: Number(row.count) })),
    refusedSources: refusedSources(suspectSources(minutes, now), quarters, now),
    waitingByChannel: new Map(waiting.map((row) => [String(row.channel), Number(row.waiting)])),
    refused: refused.map(({ source, received_at, diagnosis }) => ({
      source: String(source),
      receivedAt: isoTime(received_at),
      diagnosis: JSON.parse(String(diagnosis)) as Diagnosis,
    })),
  };
}

const toPeriodCount = ({ source, outcome, slot, count }: Row) => ({
  source: String(source),
  outcome: String(outcome),
  slot: Number(slot),
  count: Number(count),
});

function toCredentialUse({ method, fingerprint, previous_since, last_used_at }: Row): StoredCredentialUse {
  const time = (value: unknown) => (value === null ? null : isoTime(value));
  return {
    method: String(method),
    fingerprint: String(fingerprint),
    previousSince: time(previous_since),
    lastUsedAt: time(last_used_at),
  };
}

function isoTime(value: unknown): string {
  return new Date(value as string | Date).toISOString();
}

/** What must hold between the rows of a database at any instant, whatever has happened to the processes before it. */
export interface Invariant {
  readonly name: string;
  readonly message: string;
  /**
   * Selects what breaks it, as the column `what`; nothing where all is well. The same text for both databases. `@since` stands
   * for a time that no retention reaches: what is younger has not been deleted.
   */
  readonly select: string;
}

/** An invariant of one database. */
export interface InvariantResult {
  readonly name: string;
  readonly message: string;
  readonly violations: number;
  readonly examples: readonly string[];
}

export const MAX_EXAMPLES = 5;

/** Rows go by their age, so that what names another row may outlive it; only what is young must have it. */
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
    select: `SELECT event_id AS what FROM oncehook_callbacks
      WHERE outcome = 'success' AND event_id IS NOT NULL GROUP BY source, event_id HAVING count(*) > 1`,
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
      WHERE c.with_record = 1 AND r.id IS NULL`,
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
      GROUP BY source, event_id, position HAVING count(*) > 1`,
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

/** The shortest retention is a day. */
const RECENT_MS = 12 * 3_600_000;

/** What tells one database from another, for a person who has several. */
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

const SELECT_CONTENTS = `SELECT
  (SELECT value FROM oncehook_settings WHERE name = 'environment') AS environment,
  (SELECT count(*) FROM oncehook_records) AS records,
  (SELECT created_at FROM oncehook_records ORDER BY id DESC LIMIT 1) AS newest`;

/**
 * Checks the integrity of a database that has this service's tables, while it may be in use: each invariant on a snapshot of its
 * own. The statements have one text for both databases.
 * @throws MaintenanceError for a database that this version cannot read
 */
export async function checkInvariants(all: Select): Promise<IntegrityReport> {
  assertCurrent((await all(SELECT_SCHEMA))[0]);
  const since = new Date(Date.now() - RECENT_MS).toISOString();
  const invariants: InvariantResult[] = [];
  for (const { name, message, select } of INVARIANTS) {
    const found = select.replaceAll("@since", `'${since}'`);
    const rows = await all(
      `SELECT what, count(*) OVER () AS broken FROM (${found}) AS found LIMIT ${MAX_EXAMPLES}`,
    );
    const examples = rows.map(({ what }) => String(what));
    invariants.push({ name, message, violations: Number(rows[0]?.broken ?? 0), examples });
  }
  const { environment, records, newest } = (await all(SELECT_CONTENTS))[0] ?? {};
  const contents = {
    environment: environment === null ? null : String(environment),
    records: Number(records),
    newestRecordAt: newest === null ? null : new Date(newest as string | Date).toISOString(),
  };
  return { contents, invariants };
}

/** @throws MaintenanceError for a database that this version cannot read */
export function assertCurrent(newest: Readonly<Record<string, unknown>> | undefined): void {
  const outdated = outdatedSchema(Number(newest?.number ?? 0));
  if (outdated !== undefined) throw new MaintenanceError(outdated);
}
