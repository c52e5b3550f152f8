/** `viewer` may look, `operator` may also change things. */
export type Role = "viewer" | "operator";

/** Somebody who is signed in on the admin listener. */
export interface StoredSession {
  /** `token`, a mail address, or `sub:` and the subject at the provider. */
  readonly who: string;
  readonly role: Role;
  /** A fingerprint of what it was begun with: a session does not outlive that. */
  readonly begunWith: string;
  readonly begunAt: Date;
  readonly expiresAt: Date;
}

/**
 * Sessions of operators, in the database, since any of many processes may be asked next. Only the SHA-256 of a session's id is
 * kept, lowercase hex: who reads the database is not signed in by that.
 */
export interface SessionStore {
  begin(idSha256: string, session: StoredSession): Promise<void>;
  /** Undefined where there is none, or none any more. */
  find(idSha256: string, now: Date): Promise<StoredSession | undefined>;
  /** Those of them that there are, and are still. */
  among(idsSha256: readonly string[], now: Date): Promise<ReadonlySet<string>>;
  /** From now on nobody finds it. */
  end(idSha256: string): Promise<void>;
}
