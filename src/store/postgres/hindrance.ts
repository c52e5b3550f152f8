import { FaultInRun, StoreFault, type StoreFaultReason } from "../store-fault.ts";

/** The connection was lost while a statement was under way, so nobody knows how far it came. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** No connection could be had: nothing was sent, so asking again is safe. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

/** The record of the event is locked by another delivery that has not ended yet. */
export class EventLocked extends Error {
  override readonly name = "EventLocked";
}

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * SQLSTATEs after which the same transaction may succeed (PostgreSQL manual, appendix A): serialization failure,
 * deadlock, the shutdowns and start-ups of a restart, too many connections, a statement cancelled by its limit,
 * a read-only server (a failover under way), a full or failing disk.
 */
const PASSING = new Set([
  "40001",
  "40P01",
  "57P01",
  "57P02",
  "57P03",
  "57P05",
  "53300",
  "57014",
  "25006",
  "53100",
  "53200",
  "58030",
  LOCK_NOT_AVAILABLE,
]);

/** Whether the error of a transaction passes by itself, and what to call it when it does not in time. */
export function passing(error: unknown): StoreFaultReason | undefined {
  // A verdict of the store's own, on COMMIT, is none the less one for what caused it.
  if (error instanceof StoreFault || (error instanceof Error && final.has(error))) return undefined;
  if (error instanceof ConnectionLost || error instanceof NoConnection) return "unavailable";
  if (error instanceof EventLocked) return "in_progress";
  if (causes(error).some((cause) => outdated.has(cause))) return "unavailable";
  const state = sqlState(error);
  if (state === undefined || isRefusedMessage(error)) return undefined;
  return PASSING.has(state) || state.startsWith("08") ? "unavailable" : undefined;
}

const PROTOCOL_VIOLATION = "08P01";

/** Too few values, say: the connection goes on. Poolers give what they lost the same state, but end the connection. */
function isRefusedMessage(error: unknown): boolean {
  return causes(error).some(
    (cause) =>
      "code" in cause &&
      cause.code === PROTOCOL_VIOLATION &&
      "severity" in cause &&
      cause.severity === "ERROR",
  );
}

const STATEMENT_CANCELLED = "57014";
const READ_ONLY = "25006";

/**
 * What the handler threw, marked where the database is to blame and a repetition may help. A statement that its own
 * limit cancelled is the handler's affair: it would take as long again. So is a transaction that became read-only after
 * the record was written in it.
 */
export function faultInRun(error: unknown): unknown {
  if (passing(error) === undefined) return error;
  if (![STATEMENT_CANCELLED, READ_ONLY].includes(sqlState(error) ?? "")) return new FaultInRun(error);
  return lasting(error);
}

/** Marks an error that would come again. */
export function lasting(error: unknown): unknown {
  if (error instanceof Error) final.add(error);
  return error;
}

export function isReadOnlyServer(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

const final = new WeakSet<Error>();
const outdated = new WeakSet<Error>();

/** Marks the error of a statement that will be parsed anew next time: that may be all it needs. */
export function markOutdated(error: unknown): void {
  if (error instanceof Error) outdated.add(error);
}

/** The same for a statement of its own, which must not be repeated when it may have happened. */
export function passingBeforeItBegan(error: unknown): StoreFaultReason | undefined {
  return error instanceof ConnectionLost ? undefined : passing(error) && "unavailable";
}

export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === LOCK_NOT_AVAILABLE;
}

function sqlState(error: unknown): string | undefined {
  for (const cause of causes(error)) {
    if ("code" in cause && typeof cause.code === "string" && /^[0-9A-Z]{5}$/.test(cause.code))
      return cause.code;
  }
  return undefined;
}

/** A handler may wrap the driver's error, so the causes are looked at too. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  // The store's own error around it counts for none, so that both looks at it see the same.
  let current = error instanceof FaultInRun ? error.cause : error;
  for (; current instanceof Error && found.length < 5; current = current.cause) {
    found.push(current);
  }
  return found;
}
