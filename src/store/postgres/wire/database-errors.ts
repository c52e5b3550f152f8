import {
  causesOf,
  DatabaseErrorInHandler,
  EventLocked,
  LOCK_NOT_AVAILABLE,
  StoreError,
  type StoreErrorReason,
} from "../../store-errors.ts";

/** The connection was lost during a statement, whose outcome is unknown. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** No connection could be had: nothing was sent, so asking again is safe. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

/**
 * SQLSTATEs after which the same transaction may succeed (PostgreSQL manual, appendix A). They report a lost connection,
 * serialization failure, deadlock, a restart, too many connections or a statement cancelled by its limit. Others are a
 * read-only server (a failover under way), and a full or failing disk.
 */
const TRANSIENT_STATE = /^(?:08...|40001|40P01|57P0[1235]|57014|25006|53[123]00|58030)$/;

/** Whether the error of a transaction passes by itself, and what to call it when it does not in time. */
export function transientReason(error: unknown): StoreErrorReason | undefined {
  // A StoreError, such as that of a COMMIT, is final whatever caused it.
  if (error instanceof StoreError || (error instanceof Error && permanent.has(error))) return undefined;
  if (error instanceof ConnectionLost || error instanceof NoConnection) return "unavailable";
  if (error instanceof EventLocked) return "in_progress";
  if (causes(error).some((cause) => staleStatements.has(cause))) return "unavailable";
  const state = sqlState(error);
  if (state === undefined || isRefusedMessage(error)) return undefined;
  return TRANSIENT_STATE.test(state) || state === LOCK_NOT_AVAILABLE ? "unavailable" : undefined;
}

const PROTOCOL_VIOLATION = "08P01";

/** Too few values, say: the connection goes on. Poolers give what they lost the same state, but end the connection. */
function isRefusedMessage(error: unknown): boolean {
  const refused = causes(error).filter((cause) => "code" in cause && cause.code === PROTOCOL_VIOLATION);
  return refused.some((cause) => "severity" in cause && cause.severity === "ERROR");
}

const STATEMENT_CANCELLED = "57014";
const READ_ONLY = "25006";

/**
 * The handler's error, marked if the database is to blame and a repetition may help. A statement that its own limit cancelled
 * is the handler's affair: it would take as long again. So is a transaction that became read-only after the record was written
 * in it.
 */
export function classifyHandlerError(error: unknown): unknown {
  // The handler has not run.
  if (error instanceof EventLocked) return error;
  if (transientReason(error) === undefined) return error;
  if (![STATEMENT_CANCELLED, READ_ONLY].includes(sqlState(error) ?? "")) return new DatabaseErrorInHandler(error);
  return markPermanent(error);
}

/** Marks an error that would come again. */
export function markPermanent(error: unknown): unknown {
  if (error instanceof Error) permanent.add(error);
  return error;
}

export function isReadOnlyServer(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

const permanent = new WeakSet<Error>();
const staleStatements = new WeakSet<Error>();

/** Marks the error of a stale prepared statement: the next attempt parses it again and may succeed. */
export function markStaleStatement(error: unknown): void {
  if (error instanceof Error) staleStatements.add(error);
}

/** `transientReason` of a statement outside of any transaction: one that may have happened must not be repeated. */
export function transientReasonBeforeSending(error: unknown): StoreErrorReason | undefined {
  return error instanceof ConnectionLost ? undefined : transientReason(error) && "unavailable";
}

/** Whether a value was refused: a data exception or a violated constraint (PostgreSQL manual, appendix A). */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? "");
}

function sqlState(error: unknown): string | undefined {
  for (const cause of causes(error)) {
    if ("code" in cause && typeof cause.code === "string" && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code;
  }
  return undefined;
}

/** A handler may wrap the driver's error, so the causes are looked at too. */
function causes(error: unknown): Error[] {
  // The store's own error around it counts for none, so that both looks at it see the same.
  const own = error instanceof DatabaseErrorInHandler ? error.cause : error;
  return causesOf(own).filter((cause) => cause instanceof Error);
}
