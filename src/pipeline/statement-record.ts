import type { JsonValue } from "../domain/index.ts";
import type { TransactionObserver } from "../store/index.ts";

export interface HandlerStatement {
  readonly sql: string;
  /** As the handler gave them, the first of them; not masked. */
  readonly values: readonly unknown[];
  readonly valuesOmitted: number;
  /** How many rows it returned or changed; null where it failed, or had not ended when the handler did. */
  rows: number | null;
}

/** So many are kept; the others are counted. */
const [MAX_STATEMENTS, MAX_VALUES] = [100, 32];

/** The statements of a handler, by its last run. A transaction that the database lost runs again. */
export class StatementRecord implements TransactionObserver {
  statements: HandlerStatement[] = [];
  statementsOmitted = 0;
  /** Whether the driver's connection was handed out: its statements are not among these. */
  isConnectionUsed = false;
  /** Of the event. Its secrets are masked in the statements as well, where they have no names. */
  payload: JsonValue | undefined;

  /** Begins again, for a run of this event. */
  begin(payload: JsonValue | undefined): void {
    Object.assign(this, new StatementRecord(), { payload });
  }

  statementStarted(sql: string, given: readonly unknown[]): (rows: number | null) => void {
    if (this.statements.length === MAX_STATEMENTS) {
      this.statementsOmitted += 1;
      return () => {};
    }
    const values = given.slice(0, MAX_VALUES);
    const kept: HandlerStatement = { sql, values, valuesOmitted: given.length - values.length, rows: null };
    this.statements.push(kept);
    return (rows) => {
      kept.rows = rows;
    };
  }

  connectionUsed(): void {
    this.isConnectionUsed = true;
  }

  foreignKeysUnchecked(): void {}
}
