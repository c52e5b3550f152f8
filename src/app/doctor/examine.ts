import { type Config, compareEnvironments, type EnvironmentFile } from "../../config/index.ts";
import { systemClock } from "../../domain/index.ts";
import type { Handler } from "../../handlers/index.ts";
import { destinationsOf } from "../channels.ts";
import { checkAccess } from "./check-access.ts";
import { checkAddress } from "./check-address.ts";
import { checkAuthentication } from "./check-authentication.ts";
import { checkCertificate } from "./check-certificate.ts";
import { checkDatabase } from "./check-database.ts";
import { checkNotifications } from "./check-notifications.ts";
import { checkOAuth } from "./check-oauth.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

/** Every check of a configuration that is valid in itself. */
export async function examine(
  config: Config,
  registered: readonly string[],
  files: readonly EnvironmentFile[],
  handlers: readonly Handler[] = [],
): Promise<Finding[]> {
  const { database } = config;
  const now = systemClock.now();
  return [
    ok(
      "configuration",
      `is valid for ${config.environment}, on ${database.kind === "sqlite" ? "SQLite" : "PostgreSQL"}`,
    ),
    ...config.warnings.map((text) => warning("configuration", text)),
    ...(await checkAuthentication(config)),
    ...(await checkDatabase(config, destinationsOf(config), now, handlers)),
    ...(await checkCertificate(config, now)),
    ...(await checkOAuth(config, handlers)),
    ...(await checkAccess(config)),
    ...(await checkNotifications(config)),
    ...checkAddress(config, registered, handlers),
    ...checkFiles(files),
  ];
}

function checkFiles(files: readonly EnvironmentFile[]): Finding[] {
  const about = "environments";
  if (files.length < 2) return [ok(about, "fewer than two environment files to compare")];
  const problems = compareEnvironments(files).map((problem) => failure(about, problem));
  const names = files.map(({ name }) => name).join(", ");
  return problems.length > 0 ? problems : [ok(about, `${names} share no secret, address or database`)];
}
