import { DatabaseErrorInHandler, StoreError, type StoreErrorReason } from "../store-errors.ts";

const SQLITE_BUSY = 5;
const SQLITE_BUSY_SNAPSHOT = 517;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT = 19;
/** NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL: the machine's trouble, not the statement's. */
const SYSTEM_ERRORS = new Set([7, 8, 10, 13, 14, 15]);

/** Another connection holds the lock: it passes by itself. */
export function transientReason(error: unknown): StoreErrorReason | undefined {
  const code = primaryCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED ? "unavailable" : undefined;
}

/**
 * Whether BEGIN failed for a reason that passes by itself. A snapshot that is outdated at BEGIN is one that a statement in
 * progress keeps open (https://sqlite.org/rescode.html#busy_snapshot).
 */
export function isBusyAtBegin(error: unknown): boolean {
  const isSnapshot = error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY_SNAPSHOT;
  return transientReason(error) !== undefined && !isSnapshot;
}

/** The database cannot work just now (a full disk, a failing one), as opposed to a wrong statement. */
export function isSystemError(error: unknown): boolean {
  const code = primaryCode(error);
  return code !== undefined && SYSTEM_ERRORS.has(code);
}

/** A constraint refused a statement's values; some are checked only at COMMIT. */
export function isConstraintError(error: unknown): boolean {
  return primaryCode(error) === SQLITE_CONSTRAINT;
}

/** Whether a value was refused: by a constraint, or by the driver, which binds only some types. */
export function isDataError(error: unknown): boolean {
  if (isConstraintError(error)) return true;
  return error instanceof TypeError && "code" in error && error.code === "ERR_INVALID_ARG_TYPE";
}

/** The machine's trouble is the database's, also where a handler's statement met it; other errors are as they are. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof DatabaseErrorInHandler) && !isSystemError(error)) return error;
  return new StoreError("unavailable", "the database cannot write: check its disk and its permissions", error);
}

/** The low byte of an extended code (https://sqlite.org/rescode.html); errors of other services have an `errcode` too. */
export function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("errcode" in error)) return undefined;
  if (error.code !== "ERR_SQLITE_ERROR") return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
