import type { Config } from "../../config/index.ts";
import type { Handler } from "../../handlers/index.ts";
import { ANOTHER_KEY, type Inspection, isAnotherKey, NEWEST_SCHEMA } from "../../store/index.ts";
import { baseUrlChanged } from "../base-url-changed.ts";
import { BUILT_IN_TABLES, leaveOut } from "../handlers.ts";
import { keyStamp } from "../key-stamp.ts";
import { networkWarnings } from "../open-store.ts";
import { databaseReason } from "../reason.ts";
import { unserved } from "../unserved.ts";
import { checkRefused } from "./check-refused.ts";
import { checkSecrets } from "./check-secrets.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

/**
 * That the database answers, fits this version and this environment, and keeps what it commits.
 * @param own handlers take the place of the built-in ones of their types, and make none of those tables
 * @param destinations the channels of notifications that are configured; what waits for another one is told
 */
export async function checkDatabase(
  config: Config,
  destinations: readonly string[],
  now: Date,
  own: readonly Handler[] = [],
): Promise<Finding[]> {
  const { database, environment } = config;
  const about = "database";
  const builtIn = config.builtInHandlers.filter((type) => !own.some((handler) => handler.type === type));
  const network = networkWarnings(database).map((text) => warning(about, text));
  let found: Inspection;
  try {
    found = await inspect(
      database,
      Object.values(BUILT_IN_TABLES).map(({ table }) => table),
    );
  } catch (error) {
    return [...network, failure(about, `does not answer: ${databaseReason(error)}; check DATABASE_URL`)];
  }
  const findings = [...network, ...tablesInTheWay(builtIn, found)];
  if (!found.exists) return [...findings, ok(about, "is new: the first start makes the tables")];
  const durability = found.durabilityWarnings.map((text) =>
    environment === "production" ? failure(about, text) : warning(about, text),
  );
  findings.push(...durability);
  if (found.schema > NEWEST_SCHEMA) {
    findings.push(
      failure(
        about,
        `has schema ${found.schema}, this version knows ${NEWEST_SCHEMA}; start the newer version`,
      ),
    );
  }
  if (found.environment !== undefined && found.environment !== environment) {
    findings.push(
      failure(
        about,
        `belongs to the environment ${found.environment}, not to ${environment}; use another one`,
      ),
    );
  }
  if (isAnotherKey(found.keyId, keyStamp(config))) {
    findings.push(failure("ENCRYPTION_KEY", ANOTHER_KEY));
  }
  if (baseUrlChanged(config, found.baseUrl)) {
    findings.push(
      warning(about, `was last used with ${found.baseUrl}; CALLBACK_BASE_URL is now ${config.baseUrl}`),
    );
  }
  if (findings.length === 0) findings.push(ok(about, `answers, schema ${found.schema} of ${NEWEST_SCHEMA}`));
  const stuck = unserved(found.waitingByChannel, destinations).map((text) => warning("notifications", text));
  const secrets = await checkSecrets(config, found, now);
  return [...findings, ...secrets, ...checkRefused(found.diagnoses), ...stuck];
}

/** A built-in handler's table that is there, and not of its own making: the start would fail on it. */
function tablesInTheWay(handlers: readonly string[], found: Inspection): Finding[] {
  const applied = found.exists ? found.ownMigrations : [];
  return handlers.flatMap((type) => {
    const made = BUILT_IN_TABLES[type];
    if (made === undefined || !found.tables.includes(made.table)) return [];
    if (applied.some((name) => name.endsWith(made.migration))) return [];
    return [failure("database", `holds a table "${made.table}" that is not Oncehook's: ${leaveOut(type)}`)];
  });
}

async function inspect(database: Config["database"], tables: readonly string[]): Promise<Inspection> {
  if (database.kind === "sqlite") {
    const { inspectSqlite } = await import("../../store/sqlite/index.ts");
    return inspectSqlite(database.path, { tables });
  }
  const { inspectPostgres } = await import("../../store/postgres/index.ts");
  return inspectPostgres(database.url, { schema: database.schema ?? undefined, tables });
}
