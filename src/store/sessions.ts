import { storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { SessionRow } from "./tables.ts";

/** `viewer` may look, `operator` may also change things. */
export type Role = SessionRow["role"];

/** A signed-in user of the admin listener. */
export interface StoredSession {
  /** `token`, a mail address, or `sub:` and the subject at the provider. */
  readonly actor: string;
  readonly role: Role;
  /** A fingerprint of what it was begun with: a session does not outlive that. */
  readonly credentialFingerprint: string;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Sessions of operators, in the database, since any of many processes may be asked next. Only the SHA-256 of a session's id is
 * kept, lowercase hex: who reads the database is not signed in by that.
 */
export interface SessionStore {
  create(idSha256: string, session: StoredSession): Promise<void>;
  /** Undefined where there is none, or none any more. */
  find(idSha256: string, now: Date): Promise<StoredSession | undefined>;
  /** Those of them that there are, and are still. */
  among(idsSha256: readonly string[], now: Date): Promise<ReadonlySet<string>>;
  /** Deletes the session. */
  end(idSha256: string): Promise<void>;
}

const TABLE = "oncehook_sessions";

/** The sessions of `SessionStore`, in SQL that both databases speak. */
export function sessionQueries({ read, write }: Database): SessionStore {
  return {
    async create(idSha256, { actor, role, credentialFingerprint, startedAt, expiresAt }) {
      await write
        .insertInto(TABLE)
        .values({
          id_sha256: idSha256,
          who: storableText(actor),
          role,
          begun_with: credentialFingerprint,
          begun_at: startedAt.toISOString(),
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
      const times = { startedAt: new Date(row.begun_at), expiresAt: new Date(row.expires_at) };
      return { actor: row.who, role: row.role, credentialFingerprint: row.begun_with, ...times };
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
