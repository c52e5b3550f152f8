import { storableText } from "./column-values.ts";
import { Area } from "./database.ts";
import type { SessionRow } from "./tables.ts";

/** `viewer` may look, `operator` may also change things. */
export type Role = SessionRow["role"];

/** A signed-in user of the admin listener. */
export interface StoredSession {
  /** `token`, a mail address, or `sub:` and the subject at the provider. */
  readonly actor: string;
  readonly role: Role;
  /** A fingerprint of the credential that started it: the session ends with that credential. */
  readonly credentialFingerprint: string;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

const TABLE = "oncehook_sessions";

/**
 * Sessions of operators, in the database, since the next request may reach another process. A row holds only the SHA-256 of a
 * session's id, in lowercase hex: reading the database opens no session.
 */
export class Sessions extends Area {
  async create(idSha256: string, session: StoredSession): Promise<void> {
    await this.database.write
      .insertInto(TABLE)
      .values({
        id_sha256: idSha256,
        actor: storableText(session.actor),
        role: session.role,
        credential_fingerprint: session.credentialFingerprint,
        started_at: session.startedAt.toISOString(),
        expires_at: session.expiresAt.toISOString(),
      })
      .execute();
  }

  /** Undefined where there is none, or it has expired. */
  async find(idSha256: string, now: Date): Promise<StoredSession | undefined> {
    const row = await this.database.read
      .selectFrom(TABLE)
      .selectAll()
      .where("id_sha256", "=", idSha256)
      .where("expires_at", ">", now.toISOString())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const times = { startedAt: new Date(row.started_at), expiresAt: new Date(row.expires_at) };
    return { actor: row.actor, role: row.role, credentialFingerprint: row.credential_fingerprint, ...times };
  }

  /** Those of these ids whose sessions exist and have not expired. */
  async among(idsSha256: readonly string[], now: Date): Promise<ReadonlySet<string>> {
    if (idsSha256.length === 0) return new Set();
    const rows = await this.database.read
      .selectFrom(TABLE)
      .select("id_sha256")
      .where("id_sha256", "in", idsSha256)
      .where("expires_at", ">", now.toISOString())
      .execute();
    return new Set(rows.map(({ id_sha256 }) => id_sha256));
  }

  /** Deletes the session. */
  async end(idSha256: string): Promise<void> {
    await this.database.write.deleteFrom(TABLE).where("id_sha256", "=", idSha256).execute();
  }
}
