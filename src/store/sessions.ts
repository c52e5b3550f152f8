import { sql } from "kysely";
import { storableText } from "./column-values.ts";
import { Area, insert } from "./database.ts";

/** `viewer` may look, `operator` may also change things. */
export type Role = "viewer" | "operator";

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

/**
 * Sessions of operators, in the database, since the next request may reach another process. A row holds only the SHA-256 of a
 * session's id, in lowercase hex: reading the database opens no session.
 */
export class Sessions extends Area {
  async create(
    idSha256: string,
    { actor, role, credentialFingerprint, startedAt, expiresAt }: StoredSession,
  ): Promise<void> {
    const row = { idSha256, actor: storableText(actor), role, credentialFingerprint, startedAt, expiresAt };
    await this.write`${insert("oncehook_sessions", row)}`;
  }

  /** Undefined where there is none, or it has expired. */
  async find(idSha256: string, now: Date): Promise<StoredSession | undefined> {
    const [row] = await this
      .read<StoredSession>`SELECT actor, role, credential_fingerprint, started_at, expires_at
      FROM oncehook_sessions WHERE id_sha256 = ${idSha256} AND expires_at > ${now}`;
    return row && { ...row, startedAt: new Date(row.startedAt), expiresAt: new Date(row.expiresAt) };
  }

  /** Those of these ids whose sessions exist and have not expired. */
  async among(idsSha256: readonly string[], now: Date): Promise<ReadonlySet<string>> {
    if (idsSha256.length === 0) return new Set();
    const rows = await this.read<{ idSha256: string }>`SELECT id_sha256 FROM oncehook_sessions
      WHERE id_sha256 IN (${sql.join(idsSha256)}) AND expires_at > ${now}`;
    return new Set(rows.map((row) => row.idSha256));
  }

  async end(idSha256: string): Promise<void> {
    await this.write`DELETE FROM oncehook_sessions WHERE id_sha256 = ${idSha256}`;
  }
}
