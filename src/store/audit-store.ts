import type { JsonObject } from "../domain/index.ts";
import type { Page } from "./page.ts";
import type { Role } from "./session-store.ts";

/** `refused`: it was not carried out, and nothing changed. `failed`: nobody can say more than the log. */
export type AuditOutcome = "done" | "refused" | "failed";

export interface NewAuditEntry {
  readonly at: Date;
  /** Null for somebody who is not known. */
  readonly who: string | null;
  readonly role: Role | null;
  readonly remoteAddress: string;
  /** Such as `failure.replay`. */
  readonly action: string;
  /** What it is done to, such as `platform/evt_1`. */
  readonly subject: string | null;
  /** Nothing in it is secret. */
  readonly detail: JsonObject | null;
  /** Null while it is under way. */
  readonly outcome: AuditOutcome | null;
}

export interface StoredAuditEntry extends Omit<NewAuditEntry, "at"> {
  readonly id: number;
  /** ISO 8601. */
  readonly timestamp: string;
}

export interface AuditFilter {
  readonly action?: string;
  readonly who?: string;
}

/** Who did what: written before it is done, and completed after it. One without an outcome was cut off. */
export interface AuditStore {
  /** Resolves with its id once it is written. */
  begin(entry: NewAuditEntry): Promise<number>;
  end(id: number, outcome: AuditOutcome): Promise<void>;
  /** Newest first. */
  list(page: Page, filter: AuditFilter): Promise<StoredAuditEntry[]>;
}
