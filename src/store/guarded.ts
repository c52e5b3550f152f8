import type { TransactionWatch } from "./transaction.ts";

const ENDS_TRANSACTION =
  /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/|;)*(?:begin|start|commit|end|abort|rollback(?!\s+to)|prepare\s+transaction)\b/i;

/** Whether the transaction that lent something out is still open. */
export interface Lending {
  open: boolean;
  /** Statements that were begun and have not ended. */
  pending: number;
  /** Whether it was used after its end: the handler did not wait for what it had begun. */
  usedLate: boolean;
  /** Whether the database still has the transaction open: an error may have ended it, or the handler itself. */
  readonly isInTransaction: () => boolean;
  /** Only in dry runs. */
  readonly watch: TransactionWatch | undefined;
}

/** A lending at the begin of its transaction. */
export function newLending(isInTransaction: () => boolean, watch?: TransactionWatch): Lending {
  return { open: true, pending: 0, usedLate: false, isInTransaction, watch };
}

/** Counts a statement while it runs, so that one that nobody awaits is found before the commit. */
export async function counted<T>(lending: Lending, run: () => T | Promise<T>): Promise<T> {
  assertOpen(lending);
  lending.pending += 1;
  try {
    return await run();
  } finally {
    lending.pending -= 1;
  }
}

/** Ends the lending, as often as it is asked before the commit. @throws Error when the handler returned before a statement of its own had ended */
export function takeBack(lending: Lending): void {
  lending.open = false;
  if (lending.pending > 0 || lending.usedLate) {
    throw new Error(
      "the handler returned before a statement it had begun was finished: await every use of `tx`",
    );
  }
}

/** What differs between the drivers. */
export interface GuardRules {
  /** Tells the objects that a connection hands out and that could outlive the transaction, such as statements. */
  readonly isLentOn?: (value: unknown) => value is object;
  /** Told of what a call began and has not ended yet. */
  readonly begun?: (pending: Promise<unknown>) => void;
  /** @throws TypeError for a call that no handler may make */
  readonly check?: (method: string | symbol, args: readonly unknown[]) => void;
}

/**
 * The driver's connection as a handler may use it: refused after the transaction has ended, and never able to
 * end it. It guards against mistakes; the store checks the transaction's state again before it commits.
 */
export function guarded<Connection extends object>(
  connection: Connection,
  lending: Lending,
  { isLentOn, begun, check }: GuardRules = {},
): Connection {
  return new Proxy(connection, {
    get(target, property) {
      assertOpen(lending);
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        assertOpen(lending);
        assertKeepsTransaction(args[0]);
        check?.(property, args);
        const value: unknown = Reflect.apply(member, target, args);
        if (isThenable(value)) {
          begun?.(value);
          return counted(lending, () => value);
        }
        return isLentOn?.(value) ? guarded(value, lending) : value;
      };
    },
  });
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/**
 * @throws Error when the transaction is over, so that nothing a handler writes afterwards commits by itself: not
 *   after its end here, nor after an end that the database or the handler brought about
 */
export function assertOpen(lending: Lending): void {
  if (!lending.open) {
    lending.usedLate = true;
    throw new Error(
      "the transaction has ended: `tx` may be used only until the handler returns, throws or exceeds its time limit",
    );
  }
  if (!lending.isInTransaction()) {
    throw new Error(
      "the transaction was ended inside the handler, by the database after an error or by a statement of its own; " +
        "throw that error on, and leave the commit to Oncehook",
    );
  }
}

/** @throws Error for a statement that would begin, commit or roll back */
export function assertKeepsTransaction(statement: unknown): void {
  const text =
    typeof statement === "string" ? statement : (statement as { text?: unknown } | undefined)?.text;
  if (typeof text === "string" && ENDS_TRANSACTION.test(text)) {
    throw new Error(
      `the handler may not run "${text.trim().slice(0, 40)}": Oncehook commits the transaction with the event's ` +
        "record. Throw to roll it back; use a SAVEPOINT for parts.",
    );
  }
}
