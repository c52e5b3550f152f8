/** What of the database is encrypted, by the name of what it is. */
export type SealedKind = "failure" | "preparation" | "user_tokens";

export interface SealedValue {
  /** The columns of its primary key: event id and source, a user's id, or the hash of a state. */
  readonly key: readonly string[];
  readonly sealed: Uint8Array;
}

/** Encrypted values wherever they are kept, for the rotation of their key. */
export interface SealedValueStore {
  /** The next ones in the order of their keys. */
  page(kind: SealedKind, after: SealedValue["key"] | undefined, limit: number): Promise<SealedValue[]>;
  /** False when it was changed or deleted meanwhile. */
  replace(kind: SealedKind, value: SealedValue, sealed: Uint8Array): Promise<boolean>;
}
