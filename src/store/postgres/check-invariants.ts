import pg from "pg";
import { aWhileAgo, type CheckedInvariant, counting, INVARIANTS, toCheckedInvariant } from "../invariants.ts";

const PATIENCE_MS = 5_000;

/**
 * Holds a database against its invariants, while it may be in use: each on a snapshot of its own.
 * @throws the driver's error when the server does not answer
 */
export async function checkPostgresInvariants(url: string): Promise<CheckedInvariant[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS });
  // The error of a lost connection comes with the query that met it.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("SET default_transaction_read_only = on");
    const since = aWhileAgo();
    const checked: CheckedInvariant[] = [];
    for (const invariant of INVARIANTS) {
      const { rows } = await client.query(counting(invariant, since));
      checked.push(toCheckedInvariant(invariant, rows));
    }
    return checked;
  } finally {
    await client.end();
  }
}
