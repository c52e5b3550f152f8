import { resolve } from "node:path";
import { percentDecoded } from "../domain/index.ts";
import type { ConnectionSettings } from "../store/index.ts";
import { isVerified } from "./database-settings.ts";
import { isLoopbackHost } from "./public-host.ts";
import { ConfigError, type Environment, type Reading, readVariables } from "./read-variables.ts";
import { SERVER_VARIABLES } from "./server.ts";
import { key32, list, matching, oneOf, text, type VariableTable, wholeNumber } from "./variable.ts";

export const DATABASE_VARIABLES = {
  DATABASE_URL: {
    schema: matching(
      /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
      "sqlite:<file> or postgres://user:password@host:port/database",
    ),
    default: "sqlite:./data/oncehook.db",
    secret: "database",
  },
  DATABASE_TLS: { schema: oneOf("verify-full", "off"), default: "verify-full" },
  DATABASE_SCHEMA: {
    schema: text("")
      .refine((name) => Buffer.byteLength(name) <= 63 && !/^(?:pg_|information_schema$)|\0/i.test(name))
      .describe("the name of a schema, of at most 63 bytes, not beginning with pg_"),
  },
  POOL_SIZE: { schema: wholeNumber(2, 1_000), default: "12", defaultText: "12; in an application 3" },
} satisfies VariableTable;

export const ENCRYPTION_VARIABLES = {
  ENCRYPTION_KEY: {
    schema: key32,
    secret: "own",
    generated: true,
    neededInProduction: "32 bytes as base64, such as from: openssl rand -base64 32",
  },
  ENCRYPTION_KEY_PREVIOUS: {
    schema: list("", (key) => key32.accepts(key))
      .transform((keys) => keys.flatMap((key) => key32.read(key) ?? []))
      .describe("such keys, separated by commas"),
    default: "",
    secret: "previous",
  },
} satisfies VariableTable;

/** Reads only the database settings: maintenance commands need no secrets, and generate none. @throws ConfigError */
export function loadDatabase(env: Environment) {
  const reading = readVariables({ APP_ENV: SERVER_VARIABLES.APP_ENV, ...DATABASE_VARIABLES }, env);
  const database = databaseOf(reading, env);
  if (reading.problems.texts.length > 0) throw new ConfigError(reading.problems.texts);
  return { database, environment: reading.values.APP_ENV };
}

/** The smallest pool that can group events: one connection for a group, two for all else. */
const SMALL_POOL = 3;
interface DatabaseUse {
  /** In the place of DATABASE_URL. */
  readonly given?: ConnectionSettings | undefined;
  /** Whether the connections are beside those of an application. */
  readonly isEmbedded?: boolean;
}

const PRIVATE_NETWORK = "or set DATABASE_TLS=off on a private network";

export function databaseOf(
  reading: Reading<typeof DATABASE_VARIABLES>,
  env: Environment,
  { given, isEmbedded = false }: DatabaseUse = {},
) {
  const { values, isProduction, problems, isSet } = reading;
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema, POOL_SIZE: poolSize } = values;
  if (given === undefined && url.startsWith("sqlite:")) {
    if (schema !== undefined)
      problems.add(
        ["DATABASE_SCHEMA"],
        "is set, but DATABASE_URL names SQLite, which has no schemas; remove it, or use a file of its own",
        ["DATABASE_URL"],
      );
    return { kind: "sqlite", path: resolve(url.slice("sqlite:".length)) } as const;
  }
  const host = given === undefined ? unverifiedHost(url, env) : unverifiedHostOf(given, env);
  if (isProduction && host !== null && values.DATABASE_TLS !== "off") {
    const [name, remedy] =
      given === undefined
        ? ["DATABASE_URL", "Add sslmode=verify-full to it, and sslrootcert=<file> where the server's certificate"]
        : ["database", "Set `ssl: true`, or `ssl: { ca }` where the server's certificate"];
    problems.add(
      [name],
      `leads over a network, to ${host}, without verified TLS: the password and every event could be read on the way, or ` +
        `another server could answer. ${remedy} authority is not a public one; ${PRIVATE_NETWORK}`,
      ["DATABASE_TLS", "APP_ENV"],
    );
  }
  return {
    kind: "postgres" as const,
    connection: given ?? url,
    poolSize: isEmbedded && !isSet("POOL_SIZE") ? SMALL_POOL : poolSize,
    /** Holds the tables; null: the server's own search path decides. */
    schema: schema ?? null,
    /** A remote host whose certificate is not verified; null where it is verified, or local. */
    unverifiedHost: host,
  };
}

function unverifiedHostOf({ settings }: ConnectionSettings, env: Environment): string | null {
  if (isVerified(settings)) return null;
  const { connectionString, host = env.PGHOST ?? "localhost" } = settings;
  if (connectionString !== undefined) return unverifiedHost(connectionString, env);
  return host.startsWith("/") || isLoopbackHost(host) ? null : host;
}

/** The host of a PostgreSQL that the driver would reach over a network without verifying its certificate. */
function unverifiedHost(url: string, env: Environment): string | null {
  // As libpq, the driver accepts credentials without a host, and takes the last of repeated parameters.
  const address = URL.parse(url) ?? URL.parse(url.replace("@/", "@localhost/"));
  if (address === null) return "an address that cannot be read (percent-encode the password)";
  const last = (name: string) => address.searchParams.getAll(name).at(-1) || undefined;
  const named = last("host") ?? percentDecoded(address.hostname) ?? address.hostname;
  const host = named === "" ? (env.PGHOST ?? "localhost") : named;
  const isSocket = host.startsWith("/");
  return isSocket || isLoopbackHost(host) || last("sslmode") === "verify-full" ? null : host;
}
