import type { JsonObject } from "../domain/index.ts";
import type { TransactionObserver } from "../store/index.ts";

interface DryRunStatement {
  /** Only the text, never its values. */
  readonly sql: string;
  /** How many rows it returned or changed; null where it failed, or had not ended when the handler did. */
  rows: number | null;
}

/** So many of each are kept; the others are counted. */
const MAX_KEPT = 100;

/** The effects of a handler in a dry run, by its last run. A transaction that the database lost runs again. */
export class DryRun implements TransactionObserver {
  statements: DryRunStatement[] = [];
  statementsOmitted = 0;
  notifications: { readonly topic: string; readonly payload: JsonObject }[] = [];
  notificationsOmitted = 0;
  /** Whether the driver's connection was handed out: its statements are not among these. */
  isConnectionUsed = false;
  /** Whether foreign keys that only a commit checks were left unchecked. */
  hasUncheckedKeys = false;

  reset(): void {
    Object.assign(this, new DryRun());
  }

  statementStarted(statement: string): (rows: number | null) => void {
    if (this.statements.length === MAX_KEPT) {
      this.statementsOmitted += 1;
      return () => {};
    }
    const kept: DryRunStatement = { sql: statement, rows: null };
    this.statements.push(kept);
    return (rows) => {
      kept.rows = rows;
    };
  }

  connectionUsed(): void {
    this.isConnectionUsed = true;
  }

  foreignKeysUnchecked(): void {
    this.hasUncheckedKeys = true;
  }

  /** @param payload is kept as JSON carries it; what JSON cannot carry was refused before */
  notified(topic: string, payload: JsonObject): void {
    if (this.notifications.length === MAX_KEPT) this.notificationsOmitted += 1;
    else this.notifications.push({ topic, payload: JSON.parse(JSON.stringify(payload)) });
  }
}
