/** The columns of a row by their names. */
export type Row = Readonly<Record<string, unknown>>;

/** A transaction that the application has opened with its own library, as `fromPg` and its like return it. */
export interface OnceTransaction<Tx> {
  /** The library's transaction, of the innermost savepoint. */
  readonly handle: Tx;
  /** The schema of the receiver's tables; undefined for those that the connection's search_path finds. */
  readonly schema: string | undefined;
  /**
   * Runs a statement with `$1` and so on. Every value is a text that the statement casts: no library's types matter.
   * Names of columns are single words, which no library's naming convention changes.
   */
  query(text: string, values?: readonly string[]): Promise<readonly Row[]>;
  /** Rolls back what `work` wrote if it rejects, and rejects with the same error. */
  savepoint<T>(work: (inner: OnceTransaction<Tx>) => Promise<T>): Promise<T>;
}

export interface OnceOptions {
  /** `DATABASE_SCHEMA` of the receiver. Default: the connection's search_path finds its tables. */
  readonly schema?: string | undefined;
}
