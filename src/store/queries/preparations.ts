import type { EventKey } from "../../domain/index.ts";
import type { Lease, PreparationClaim, PreparationStore } from "../store.ts";
import type { Access } from "./access.ts";

const TABLE = "oncehook_preparations";

/** The leased and stored results of `prepare` steps, in SQL that both databases speak. */
export function preparationQueries(access: Access): PreparationStore {
  return {
    claim: (key, lease) => claim(access, key, lease),
    save: (key, owner, sealed) => save(access, key, owner, sealed),
    release: (key, owner) => release(access, key, owner),
    get: (key) => get(access, key),
  };
}

async function claim(access: Access, key: EventKey, lease: Lease): Promise<PreparationClaim> {
  const hold = { lease_owner: lease.owner, leased_until: lease.until.toISOString() };
  const now = lease.now.toISOString();
  const won = await access.write
    .insertInto(TABLE)
    .values({ source: key.source, event_id: key.eventId, created_at: now, sealed_result: null, ...hold })
    .onConflict((conflict) =>
      conflict
        .columns(["event_id", "source"])
        .doUpdateSet(hold)
        .where(`${TABLE}.sealed_result`, "is", null)
        .where((eb) =>
          eb.or([eb(`${TABLE}.leased_until`, "is", null), eb(`${TABLE}.leased_until`, "<=", now)]),
        ),
    )
    .returning("event_id")
    .executeTakeFirst();
  if (won !== undefined) return { state: "claimed" };
  const sealed = await get(access, key);
  return sealed === undefined ? { state: "leased" } : { state: "prepared", sealed };
}

async function save({ write }: Access, key: EventKey, owner: string, sealed: Uint8Array): Promise<boolean> {
  const done = await write
    .updateTable(TABLE)
    .set({ sealed_result: sealed, lease_owner: null, leased_until: null })
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "=", owner)
    .executeTakeFirst();
  return Number(done.numUpdatedRows) > 0;
}

async function release({ write }: Access, key: EventKey, owner: string): Promise<void> {
  await write
    .deleteFrom(TABLE)
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "=", owner)
    .where("sealed_result", "is", null)
    .execute();
}

async function get({ read }: Access, key: EventKey): Promise<Uint8Array | undefined> {
  const row = await read
    .selectFrom(TABLE)
    .select("sealed_result")
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return row?.sealed_result ?? undefined;
}
