import type { RedirectStateStore } from "../store.ts";
import type { Access } from "./access.ts";

const TABLE = "oncehook_redirect_states";

/** Expected OAuth states, by hash, in SQL that both databases speak. */
export function redirectStateQueries({ read, write }: Access): RedirectStateStore {
  return {
    async register(stateSha256, expiresAt, now) {
      const times = { expires_at: expiresAt.toISOString(), created_at: now.toISOString() };
      await write
        .insertInto(TABLE)
        .values({ state_sha256: stateSha256, ...times })
        .onConflict((conflict) => conflict.column("state_sha256").doUpdateSet(times))
        .execute();
    },
    async isExpected(stateSha256, now) {
      const row = await read
        .selectFrom(TABLE)
        .select("state_sha256")
        .where("state_sha256", "=", stateSha256)
        .where("expires_at", ">", now.toISOString())
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
