import type { RedirectStateStore } from "../store.ts";
import type { Access } from "./access.ts";

const TABLE = "oncehook_redirect_states";

/** Expected OAuth states, by hash, in SQL that both databases speak. */
export function redirectStateQueries({ read, write }: Access): RedirectStateStore {
  return {
    async register(stateSha256, expiresAt, now, sealedFlow) {
      const values = {
        expires_at: expiresAt.toISOString(),
        created_at: now.toISOString(),
        sealed_flow: sealedFlow ?? null,
      };
      await write
        .insertInto(TABLE)
        .values({ state_sha256: stateSha256, ...values })
        .onConflict((conflict) => conflict.column("state_sha256").doUpdateSet(values))
        .execute();
    },
    async find(stateSha256, now) {
      const row = await read
        .selectFrom(TABLE)
        .select("sealed_flow")
        .where("state_sha256", "=", stateSha256)
        .where("expires_at", ">", now.toISOString())
        .executeTakeFirst();
      return row === undefined ? undefined : { sealedFlow: row.sealed_flow };
    },
    async consume(stateSha256) {
      await write.deleteFrom(TABLE).where("state_sha256", "=", stateSha256).execute();
    },
  };
}
