import type { Config } from "../../config/index.ts";
import { ANOTHER_KEY, type Inspection, isAnotherKey, NEWEST_SCHEMA } from "../../store/index.ts";
import { baseUrlChanged } from "../base-url-changed.ts";
import { keyStamp } from "../key-stamp.ts";
import { unserved } from "../unserved.ts";
import { writableDatabase } from "../writable-database.ts";
import { checkRefused } from "./check-refused.ts";
import { checkSecrets } from "./check-secrets.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

/**
 * That the database answers, fits this version and this environment, and keeps what it commits.
 * @param destinations the channels of notifications that are configured; what waits for another one is told
 */
export async function checkDatabase(
  config: Config,
  destinations: readonly string[],
  now: Date,
): Promise<Finding[]> {
  const { database, environment } = config;
  const about = "database";
  const judged = (text: string) =>
    environment === "production" ? failure(about, text) : warning(about, text);
  const open = writableDatabase(config).map(judged);
  let found: Inspection;
  try {
    found = await inspect(database);
  } catch (error) {
    return [
      ...open,
      failure(
        about,
        `does not answer: ${error instanceof Error ? error.message : String(error)}; check DATABASE_URL`,
      ),
    ];
  }
  if (!found.exists) return [...open, ok(about, "is new: the first start makes the tables")];
  const findings = [...open, ...found.durabilityWarnings.map(judged)];
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

async function inspect(database: Config["database"]): Promise<Inspection> {
  if (database.kind === "sqlite") {
    const { inspectSqlite } = await import("../../store/sqlite/index.ts");
    return inspectSqlite(database.path);
  }
  const { inspectPostgres } = await import("../../store/postgres/index.ts");
  return inspectPostgres(database.url);
}
