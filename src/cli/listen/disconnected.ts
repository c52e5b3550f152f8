/**
 * Whether another try may end better: by itself in time (`soon`), where it did before and something went wrong since then
 * (`where_it_worked`), or only after the user has changed something (`never`).
 */
export type Passes = "soon" | "where_it_worked" | "never";

/** The connection ended, or could not be made. The message says what to do. */
export class Disconnected extends Error {
  override readonly name = "Disconnected";
  readonly passes: Passes;
  /** How long the receiver asked not to be called, where it did. */
  readonly retryAfterMs: number;

  constructor(message: string, passes: Passes, retryAfterMs = 0) {
    super(message);
    this.passes = passes;
    this.retryAfterMs = retryAfterMs;
  }
}
