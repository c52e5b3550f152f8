import type { Lease } from "./lease.ts";

/** The tokens of one user as the token endpoint answered them, encrypted. */
export interface StoredUserTokens {
  readonly userId: string;
  readonly sealed: Uint8Array;
  /** ISO 8601; null where the platform did not say. */
  readonly expiresAt: string | null;
  /** Why they can no longer be refreshed; null while they can. */
  readonly error: string | null;
}

export interface RefreshedTokens {
  readonly sealed: Uint8Array;
  readonly expiresAt: Date | null;
  readonly refreshAt: Date | null;
}

export interface FailedRefresh {
  /** Null: no further attempt. */
  readonly refreshAt: Date | null;
  /** Why they can no longer be refreshed; null where they may be later. */
  readonly error: string | null;
}

/** Tokens that are refreshed by one process at a time: a refresh token often works once (RFC 9700 §4.14.2). */
export interface UserTokenStore {
  get(userId: string): Promise<StoredUserTokens | undefined>;
  leaseOne(userId: string, lease: Lease): Promise<StoredUserTokens | "absent" | "leased">;
  /** Those that should be refreshed by now. */
  leaseDue(lease: Lease, limit: number): Promise<StoredUserTokens[]>;
  /** Mends leases and times that a clock wrote which was set back since. */
  mendTimes(leaseMs: number, now: Date): Promise<void>;
  /** False when the lease was lost, or the user has authorized anew meanwhile. */
  save(userId: string, owner: string, tokens: RefreshedTokens, now: Date): Promise<boolean>;
  /** Gives the lease back; with `failed` after a refresh that did not succeed. */
  release(userId: string, owner: string, failed?: FailedRefresh): Promise<void>;
  /** False when the lease was lost, or the user has authorized anew meanwhile. */
  remove(userId: string, owner: string): Promise<boolean>;
}
