export type StoreFaultReason =
  /** Not reached, or busy, until the deadline; nothing was written. */
  | "unavailable"
  /** Another delivery of the same event was still running at the deadline; nothing was written. */
  | "in_progress"
  /** COMMIT failed or did not answer: it may have happened. */
  | "commit_failed";

/** A fault of the database's own, as opposed to an error that `run` threw. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  readonly reason: StoreFaultReason;

  constructor(reason: StoreFaultReason, message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
