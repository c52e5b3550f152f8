import { CareRefused } from "../care-refused.ts";
import { type CheckedDatabase, SELECT_CONTENTS, toContents } from "../checked-database.ts";
import { aWhileAgo, type CheckedInvariant, counting, INVARIANTS, toCheckedInvariant } from "../invariants.ts";
import { searchFirst, withConnection } from "./first-connection.ts";
import { hasOwnTables } from "./inspect.ts";

const PATIENCE_MS = 5_000;

/**
 * Holds a database against its invariants, while it may be in use: each on a snapshot of its own.
 * @throws CareRefused where it holds none of Oncehook's tables; the driver's error when the server does not answer
 */
export function checkPostgres(url: string, schema?: string): Promise<CheckedDatabase> {
  return withConnection(url, { connectMs: PATIENCE_MS }, async (client) => {
    await client.query("SET default_transaction_read_only = on");
    await searchFirst(client, schema);
    if (!(await hasOwnTables(client, schema)))
      throw new CareRefused(`${client.database} holds none of Oncehook's tables`);
    const since = aWhileAgo();
    const invariants: CheckedInvariant[] = [];
    for (const invariant of INVARIANTS) {
      const { rows } = await client.query(counting(invariant, since));
      invariants.push(toCheckedInvariant(invariant, rows));
    }
    const { rows } = await client.query(SELECT_CONTENTS);
    return { contents: toContents(rows[0]), invariants };
  });
}
