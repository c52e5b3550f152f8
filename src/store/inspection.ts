/** What a look at a database found; nothing is changed by it. */
export type Inspection =
  /** The database, or this service's tables in it, do not exist yet; the first start makes them. */
  | { readonly exists: false }
  | {
      readonly exists: true;
      readonly schema: number;
      readonly environment: string | undefined;
      readonly baseUrl: string | undefined;
      readonly durabilityWarnings: readonly string[];
      readonly credentialUses: readonly SeenCredential[];
    };

/** When a configured secret was accepted, in ISO 8601. */
export interface SeenCredential {
  readonly name: string;
  readonly fingerprint: string;
  readonly firstUsedAt: string;
  readonly lastUsedAt: string;
}

/** The schema since which uses of secrets are noted. */
export const USES_SINCE_SCHEMA = 2;
export const SELECT_USES =
  "SELECT name, fingerprint, first_used_at, last_used_at FROM oncehook_credential_uses";

export function toSeenCredential(row: Readonly<Record<string, unknown>>): SeenCredential {
  const time = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));
  return {
    name: String(row.name),
    fingerprint: String(row.fingerprint),
    firstUsedAt: time(row.first_used_at),
    lastUsedAt: time(row.last_used_at),
  };
}
