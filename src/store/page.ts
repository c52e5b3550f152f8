/** Newest first: rows with an id below `before`. */
export interface Page {
  readonly limit: number;
  readonly before?: number;
}

export interface Search extends Page {
  /** How long it may look; one step is always done, however long that takes. */
  readonly budgetMs: number;
}

/** What one search has found, newest first. */
export interface Found<Row> {
  readonly rows: readonly Row[];
  /** Where the search goes on, as `before`; null at its end. */
  readonly next: number | null;
}
