import type pg from "pg";

const MUST_BE_ON = ["fsync", "full_page_writes", "synchronous_commit"] as const;
const OLDEST = 140_000;

/**
 * The settings without which a commit may be lost although it was acknowledged, each as a sentence.
 * @throws Error for a server this service cannot run on at all
 */
export async function durabilityWarnings(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT name, setting FROM pg_settings
     WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'server_version_num', 'server_encoding')`,
  );
  const settings = new Map<string, string>(rows.map((row) => [row.name, row.setting]));
  if (Number(settings.get("server_version_num")) < OLDEST) {
    throw new Error("DATABASE_URL: the server is older than PostgreSQL 14; use PostgreSQL 14 or newer");
  }
  if (settings.get("server_encoding") !== "UTF8") {
    throw new Error(
      `DATABASE_URL: the database's encoding is ${settings.get("server_encoding")}; create it with ENCODING 'UTF8'`,
    );
  }
  const warnings = MUST_BE_ON.filter((name) => ["off", "local"].includes(settings.get(name) ?? "")).map(
    (name) =>
      `PostgreSQL runs with ${name}=${settings.get(name)}: an acknowledged event may be lost in a crash; set it on`,
  );
  const { rows: replica } = await client.query("SELECT pg_is_in_recovery() AS standby");
  if (replica[0]?.standby === true)
    warnings.push("PostgreSQL at DATABASE_URL is a standby: use the primary's address");
  return warnings;
}
