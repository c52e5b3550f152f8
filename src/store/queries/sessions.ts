import type { SessionStore } from "../session-store.ts";
import type { Access } from "./access.ts";
import { storableText } from "./rows.ts";

const TABLE = "oncehook_sessions";

/** The sessions of `SessionStore`, in SQL that both databases speak. */
export function sessionQueries({ read, write }: Access): SessionStore {
  return {
    async begin(idSha256, { who, role, begunWith, begunAt, expiresAt }) {
      await write
        .insertInto(TABLE)
        .values({
          id_sha256: idSha256,
          who: storableText(who),
          role,
          begun_with: begunWith,
          begun_at: begunAt.toISOString(),
          expires_at: expiresAt.toISOString(),
        })
        .execute();
    },
    async find(idSha256, now) {
      const row = await read
        .selectFrom(TABLE)
        .selectAll()
        .where("id_sha256", "=", idSha256)
        .where("expires_at", ">", now.toISOString())
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const times = { begunAt: new Date(row.begun_at), expiresAt: new Date(row.expires_at) };
      return { who: row.who, role: row.role, begunWith: row.begun_with, ...times };
    },
    async among(idsSha256, now) {
      if (idsSha256.length === 0) return new Set();
      const rows = await read
        .selectFrom(TABLE)
        .select("id_sha256")
        .where("id_sha256", "in", idsSha256)
        .where("expires_at", ">", now.toISOString())
        .execute();
      return new Set(rows.map(({ id_sha256 }) => id_sha256));
    },
    async end(idSha256) {
      await write.deleteFrom(TABLE).where("id_sha256", "=", idSha256).execute();
    },
  };
}
