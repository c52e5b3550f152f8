import { sql } from "kysely";
import type { Access } from "./access.ts";

/** What the attempts of their processes come to is found out as if they had run out of time. */
export async function expireLeases({ transact }: Access, now: Date): Promise<void> {
  const leased_until = now.toISOString();
  await transact(async (query) => {
    for (const table of ["oncehook_failures", "oncehook_deliveries"] as const)
      await query.updateTable(table).set({ leased_until }).where("lease_owner", "is not", null).execute();
    await query
      .updateTable("oncehook_bulk_replays")
      .set({ leased_until })
      // The condition of the index, word for word.
      .where(sql<boolean>`state = 'running'`)
      .where("lease_owner", "is not", null)
      .execute();
  });
}
