export type StoreFaultReason =
  /** Not reached, or busy, until the deadline; nothing was written. */
  | "unavailable"
  /** Another delivery of the same event was still running at the deadline; nothing was written. */
  | "in_progress"
  /** COMMIT was refused for good; nothing was written. */
  | "commit_failed"
  /** COMMIT was sent, and its answer was lost, or its flush failed: it may have happened. */
  | "commit_unknown";

/** A fault of the database's own, as opposed to an error that `run` threw. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  readonly reason: StoreFaultReason;

  /** Whether the handler had begun in the last try that had time to begin, so that it may itself be what does not pass. */
  readonly ran: boolean;

  constructor(reason: StoreFaultReason, message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.ran = causes(cause).some((one) => one instanceof FaultInRun);
  }
}

/** A fault of the database's own that reached the store through the handler; its cause is what the driver threw. */
export class FaultInRun extends Error {
  override readonly name = "FaultInRun";

  constructor(cause: unknown) {
    super("a statement of the handler met a fault of the database", { cause });
  }
}

const MOST_CAUSES = 8;

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let current = error; current !== undefined && found.length < MOST_CAUSES; ) {
    found.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return found;
}
