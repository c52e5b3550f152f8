import type { Transaction } from "../transaction.ts";

/**
 * One step of a handler's own tables. It runs once, before the service listens, inside a transaction that holds
 * the migration lock; a throw leaves the database as it was. The name is its identity: never rename one.
 */
export interface Migration {
  readonly name: string;
  up(tx: Transaction): Promise<void>;
}

export interface MigrationReport {
  /** What was applied now, in order; empty when the database was up to date. */
  readonly applied: readonly string[];
}
