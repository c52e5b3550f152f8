import pg from "pg";
import { CareRefused } from "../care-refused.ts";
import { type CheckedDatabase, SELECT_CONTENTS, toContents } from "../checked-database.ts";
import { aWhileAgo, type CheckedInvariant, counting, INVARIANTS, toCheckedInvariant } from "../invariants.ts";

const PATIENCE_MS = 5_000;

/**
 * Holds a database against its invariants, while it may be in use: each on a snapshot of its own.
 * @throws CareRefused where it holds none of Oncehook's tables; the driver's error when the server does not answer
 */
export async function checkPostgres(url: string): Promise<CheckedDatabase> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS });
  // The error of a lost connection comes with the query that met it.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("SET default_transaction_read_only = on");
    const { rowCount } = await client.query("SELECT 1 WHERE to_regclass('oncehook_records') IS NOT NULL");
    if (rowCount === 0) throw new CareRefused(`${client.database} holds none of Oncehook's tables`);
    const since = aWhileAgo();
    const invariants: CheckedInvariant[] = [];
    for (const invariant of INVARIANTS) {
      const { rows } = await client.query(counting(invariant, since));
      invariants.push(toCheckedInvariant(invariant, rows));
    }
    const { rows } = await client.query(SELECT_CONTENTS);
    return { contents: toContents(rows[0]), invariants };
  } finally {
    await client.end();
  }
}
