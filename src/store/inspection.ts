import type { Diagnosis } from "../domain/index.ts";
import { outdatedSchema } from "./migrations/apply-migrations.ts";

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
  readonly waitingByChannel: ReadonlyMap<string, number>;
  /** Why callbacks were not authentic, of the newest entries of the log; the newest first. */
  readonly diagnoses: readonly Diagnosis[];
}

/** When a secret was accepted, and since when it has been a previous one, in ISO 8601; null for never. */
export interface StoredCredentialUse {
  readonly method: string;
  readonly fingerprint: string;
  readonly previousSince: string | null;
  readonly lastUsedAt: string | null;
}

export type Select = (text: string) => readonly Row[] | Promise<readonly Row[]>;

type Row = Readonly<Record<string, unknown>>;

export const SELECT_SCHEMA = "SELECT max(number) AS number FROM oncehook_schema";
const SELECT_USES = "SELECT method, fingerprint, previous_since, last_used_at FROM oncehook_credential_uses";
const COUNT_WAITING =
  "SELECT channel, count(*) AS waiting FROM oncehook_deliveries WHERE state = 'waiting' GROUP BY channel ORDER BY channel";
const SELECT_DIAGNOSES = `SELECT diagnosis FROM
  (SELECT id, diagnosis FROM oncehook_callbacks ORDER BY id DESC LIMIT 1000) AS newest
  WHERE diagnosis IS NOT NULL ORDER BY id DESC`;

/** Reads this service's tables, which exist. The statements have one text for both databases. */
export async function inspectTables(all: Select): Promise<ServiceInspection> {
  const [newest] = await all(SELECT_SCHEMA);
  const schema = Number(newest?.number ?? 0);
  // An outdated database may lack the tables.
  const select = async (sql: string) => (outdatedSchema(schema) === undefined ? await all(sql) : []);
  const settings = await all("SELECT name, value FROM oncehook_settings");
  const stored = new Map(settings.map((row) => [String(row.name), String(row.value)]));
  const applied = await select("SELECT name FROM oncehook_handler_migrations");
  const waiting = await select(COUNT_WAITING);
  const refused = await select(SELECT_DIAGNOSES);
  return {
    schema,
    handlerMigrations: applied.map(({ name }) => String(name)),
    environment: stored.get("environment"),
    baseUrl: stored.get("base_url"),
    keyId: stored.get("key_id"),
    credentialUses: (await select(SELECT_USES)).map(toCredentialUse),
    waitingByChannel: new Map(waiting.map((row) => [String(row.channel), Number(row.waiting)])),
    diagnoses: refused.map(({ diagnosis }) => JSON.parse(String(diagnosis)) as Diagnosis),
  };
}

function toCredentialUse({ method, fingerprint, previous_since, last_used_at }: Row): StoredCredentialUse {
  const time = (value: unknown) => (value === null ? null : new Date(value as string | Date).toISOString());
  return {
    method: String(method),
    fingerprint: String(fingerprint),
    previousSince: time(previous_since),
    lastUsedAt: time(last_used_at),
  };
}
