import pg from "pg";
import {
  COUNT_WAITING,
  DIAGNOSES_SINCE,
  type Inspection,
  SELECT_DIAGNOSES,
  SELECT_USES,
  toDiagnosis,
  toSeenCredential,
  toWaitingByChannel,
} from "../inspection.ts";
import { durabilityWarnings } from "./durability.ts";

const PATIENCE_MS = 5_000;

/** Looks at a database without changing it. @throws the driver's error when the server does not answer */
export async function inspectPostgres(url: string): Promise<Inspection> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  });
  await client.connect();
  try {
    const warnings = await durabilityWarnings(client);
    const { rows: known } = await client.query(
      "SELECT to_regclass('oncehook_schema') AS schema, to_regclass('oncehook_settings') AS settings",
    );
    if (known[0]?.schema === null || known[0]?.settings === null) return { exists: false };
    const { rows: newest } = await client.query("SELECT max(number) AS number FROM oncehook_schema");
    const schema = Number(newest[0]?.number ?? 0);
    const { rows: settings } = await client.query("SELECT name, value FROM oncehook_settings");
    const stored = new Map<string, string>(settings.map((row) => [row.name, row.value]));
    const { rows: uses } = await client.query(SELECT_USES);
    const { rows: waiting } = await client.query(COUNT_WAITING);
    const { rows: refused } = schema < DIAGNOSES_SINCE ? { rows: [] } : await client.query(SELECT_DIAGNOSES);
    return {
      exists: true,
      schema,
      environment: stored.get("environment"),
      baseUrl: stored.get("base_url"),
      keyId: stored.get("key_id"),
      durabilityWarnings: warnings,
      credentialUses: uses.map(toSeenCredential),
      waitingByChannel: toWaitingByChannel(waiting),
      diagnoses: refused.map(toDiagnosis),
    };
  } finally {
    await client.end();
  }
}
