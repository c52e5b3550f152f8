import { type Connection, ConnectionSettings, type DatabaseSettings, type PoolSettings } from "../store/index.ts";
import { ConfigError } from "./read-variables.ts";

const EXPECTED =
  'a URL ("postgres://user:password@host/database", "sqlite:<file>"), the settings of a node-postgres pool ' +
  "({ host, port, user, database, password, ssl } or { connectionString, ssl }), or a `pg.Pool`";

/** The settings that are taken, with the types that each may have. Size, time limits and session settings are Oncehook's. */
const KINDS: { readonly [Name in keyof Required<PoolSettings>]: readonly string[] } = {
  connectionString: ["string"],
  host: ["string"],
  port: ["number", "string"],
  user: ["string"],
  database: ["string"],
  password: ["string", "function"],
  ssl: ["boolean", "string", "object"],
  sslnegotiation: ["string"],
  options: ["string"],
  enableChannelBinding: ["boolean"],
  stream: ["function"],
};
/** One of them says which database is meant; without any, a pool's variables (`PGHOST` and others) do. */
const NAMING = ["connectionString", "host", "user", "database", "stream"] as const;

type Members = Readonly<Record<string, unknown>>;
const OWN_CONNECTIONS = "Oncehook opens connections of its own, so that its settings and yours do not meet";
const SEPARATE_FILE =
  "two copies of SQLite in a process, or two users of a connection, break each other's locks and transactions: a rollback " +
  'would take your rows along. Give Oncehook a file of its own, such as database: "sqlite:./data/oncehook.db"';

/** Objects of other libraries by their members, and what to pass in their place. */
const MISTAKEN: readonly [is: (value: Members) => boolean, name: string, remedy: string][] = [
  [
    ({ prepare, exec }) => isFunction(prepare) && isFunction(exec),
    "a connection to SQLite (better-sqlite3 or node:sqlite)",
    SEPARATE_FILE,
  ],
  [({ $client }) => $client !== undefined, "a Drizzle database", "pass its pool, `db.$client`, or its URL"],
  [
    ({ $connect, $transaction }) => isFunction($connect) && isFunction($transaction),
    "a Prisma client",
    "pass the URL that its adapter has",
  ],
  [
    ({ getExecutor, selectFrom }) => isFunction(getExecutor) && isFunction(selectFrom),
    "a Kysely",
    "pass the pool that its PostgresDialect has, or its URL",
  ],
  [
    ({ unsafe, begin }) => isFunction(unsafe) && isFunction(begin),
    "the `sql` of postgres.js",
    "pass the URL that `postgres()` got",
  ],
  [
    ({ raw, client }) => isFunction(raw) && client !== undefined,
    "a Knex",
    "pass its `connection` settings, or its URL",
  ],
  [
    ({ createQueryRunner, manager }) => isFunction(createQueryRunner) && manager !== undefined,
    "a TypeORM DataSource",
    "pass the URL that it has",
  ],
  [
    ({ query, connect, release, connectionParameters }) =>
      isFunction(query) && (isFunction(connect) || isFunction(release) || connectionParameters !== undefined),
    "a `pg` client, which is one connection",
    "pass the `pg.Pool`, or the settings that the client got",
  ],
];

/**
 * How to reach the application's PostgreSQL. Of a pool only `options` is read, whichever copy or version of `pg` made it;
 * its connections are never used.
 * @param value what a user passed as `database` @throws ConfigError that says what to pass instead
 */
export function poolSettingsOf(value: string | DatabaseSettings): Connection;
export function poolSettingsOf(value: unknown): Connection;
export function poolSettingsOf(value: unknown): Connection {
  if (typeof value === "string") return value;
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    throw new ConfigError([`database: got ${value === null ? "null" : typeof value}, expected ${EXPECTED}`]);
  // Its members look like settings without a user and a database.
  if (value instanceof URL) throw new ConfigError(["database: got a URL object, expected its text: pass url.href"]);
  const members = value as Members;
  if (isPool(members)) return new ConnectionSettings(takenFrom(members.options));
  const mistaken = MISTAKEN.find(([is]) => is(members));
  if (mistaken !== undefined) {
    const [, name, remedy] = mistaken;
    const why = remedy === SEPARATE_FILE ? "" : `${OWN_CONNECTIONS}; `;
    throw new ConfigError([`database: got ${name}: ${why}${remedy}`]);
  }
  if (NAMING.every((name) => members[name] === undefined))
    throw new ConfigError([`database: got an object without ${NAMING.join(", ")}, expected ${EXPECTED}`]);
  return new ConnectionSettings(takenFrom(members));
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** Never `instanceof`: an application may have another copy of `pg`. */
function isPool(members: Members): members is Members & { options: Members } {
  const { connect, query, options, totalCount } = members;
  return (
    isFunction(connect) &&
    isFunction(query) &&
    typeof totalCount === "number" &&
    typeof options === "object" &&
    options !== null
  );
}

/** By name: `pg` hides `password`, and the key of `ssl`, from enumeration. */
function takenFrom(settings: Members): PoolSettings {
  const taken: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, kinds] of Object.entries(KINDS)) {
    const value = settings[name];
    if (value === undefined || value === null) continue;
    if (!kinds.includes(typeof value))
      problems.push(`database: ${name}: got ${typeof value}, expected ${kinds.join(" or ")}`);
    taken[name] = name === "ssl" ? copyOfTls(value) : value;
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return taken;
}

/** A copy, since the driver changes the object that it gets. */
function copyOfTls(ssl: unknown): unknown {
  if (typeof ssl !== "object" || ssl === null) return ssl;
  const { key } = ssl as Members;
  return key === undefined ? { ...ssl } : { ...ssl, key };
}

/** The passwords in a connection, for logs to mask; one that a function returns is not known here. */
export function passwordsOf(connection: Connection | undefined): string[] {
  if (connection === undefined || typeof connection === "string") return [];
  const { password, connectionString } = connection.settings;
  return [password, URL.parse(connectionString ?? "")?.password].filter((one) => typeof one === "string");
}

const TLS_PARAMETERS = ["ssl", "sslmode", "sslcert", "sslkey", "sslrootcert"];

/** Whether settings lead to a server whose certificate is verified for its name, or over a socket of the application's. */
export function isVerified({ connectionString, ssl, stream }: PoolSettings): boolean {
  if (stream !== undefined) return true;
  const parameters = URL.parse(connectionString ?? "")?.searchParams;
  // Those of the address come before the setting.
  if (TLS_PARAMETERS.some((name) => parameters?.has(name))) return false;
  if (typeof ssl !== "object" || ssl === null) return ssl === true || ssl === "true";
  const { rejectUnauthorized, checkServerIdentity } = ssl as Members;
  return rejectUnauthorized !== false && checkServerIdentity === undefined;
}
