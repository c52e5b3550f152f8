export type StoreErrorReason =
  /** Not reached, or busy, until the deadline; nothing was written. */
  | "unavailable"
  /** Another delivery of the same event was still running at the deadline; nothing was written. */
  | "in_progress"
  /** COMMIT was refused for good; nothing was written. */
  | "commit_failed"
  /** COMMIT was sent, and its answer was lost, or its flush failed: it may have happened. */
  | "commit_unknown";

/** A fault of the database's own, as opposed to an error that `run` threw. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly reason: StoreErrorReason;

  /** Whether the handler started in the last attempt that had time to start it: it may itself be the cause. */
  readonly handlerStarted: boolean;

  constructor(reason: StoreErrorReason, message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.handlerStarted = causesOf(cause).some((one) => one instanceof DatabaseErrorInHandler);
  }
}

/** A fault of the database's own that reached the store through the handler; its cause is what the driver threw. */
export class DatabaseErrorInHandler extends Error {
  override readonly name = "DatabaseErrorInHandler";

  constructor(cause: unknown) {
    super("a statement of the handler met a fault of the database", { cause });
  }
}

/** Another delivery or event held a lock until the lock timeout. The event's handler has not run. */
export class EventLocked extends Error {
  override readonly name: string = "EventLocked";
}

/** Held by an earlier event of the same key. */
export class OrderKeyLocked extends EventLocked {
  override readonly name = "OrderKeyLocked";
}

/** PostgreSQL's SQLSTATE of a lock timeout; SQLite has one writer, so that no row is held there. */
export const LOCK_NOT_AVAILABLE = "55P03";

/** Runs a statement that locks rows before the handler. @param locked the error where another transaction holds them */
export async function beforeHandler<T>(work: () => Promise<T>, locked: (cause: unknown) => EventLocked): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const causes = causesOf(cause).filter((one) => one instanceof Error);
    throw causes.some((one) => "code" in one && one.code === LOCK_NOT_AVAILABLE) ? locked(cause) : cause;
  }
}

const MAX_CAUSES = 8;

/** An error and what caused it, outermost first. */
export function causesOf(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let current = error; current !== undefined && found.length < MAX_CAUSES; ) {
    found.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return found;
}

/** A look at a database, a backup or a restore that was not done. The message says why, and what to do. Nothing was changed. */
export class MaintenanceError extends Error {
  override readonly name = "MaintenanceError";
}

/** A database that this process may not use as it is configured; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}
