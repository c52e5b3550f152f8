import type { EventKey } from "../domain/index.ts";
import type { Lease } from "./lease.ts";

/** Results of `prepare` steps: outside work that must happen once although its transaction may roll back. */
export interface PreparationStore {
  /** "claimed" is durable, and no record of the event was there then. */
  claim(key: EventKey, lease: Lease): Promise<PreparationClaim>;
  /** False when the lease was lost to somebody else meanwhile. */
  save(key: EventKey, owner: string, sealed: Uint8Array): Promise<boolean>;
  /** Gives an unfinished claim back, so that the next delivery may try at once. */
  release(key: EventKey, owner: string): Promise<void>;
  get(key: EventKey): Promise<Uint8Array | undefined>;
}

export type PreparationClaim =
  | { readonly state: "claimed" }
  /** The event has its record, and nothing is left to prepare. */
  | { readonly state: "completed" }
  | { readonly state: "prepared"; readonly sealed: Uint8Array }
  | { readonly state: "leased" };
