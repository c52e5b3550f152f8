const ENDS_TRANSACTION =
  /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/|;)*(?:begin|start|commit|end|abort|rollback(?!\s+to)|prepare\s+transaction)\b/i;

/** Whether the transaction that lent something out is still open. */
export interface Lending {
  open: boolean;
  /** Statements that were begun and have not ended. */
  pending: number;
}

/** A lending at the begin of its transaction. */
export function newLending(): Lending {
  return { open: true, pending: 0 };
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

/** Ends the lending. @throws Error when the handler returned before a statement of its own had ended */
export function takeBack(lending: Lending): void {
  lending.open = false;
  if (lending.pending > 0) {
    throw new Error(
      "the handler returned before a statement it had begun was finished: await every use of `tx`",
    );
  }
}

/** Tells the objects that a connection hands out and that could outlive the transaction, such as statements. */
export type IsLentOn = (value: unknown) => value is object;

/**
 * The driver's connection as a handler may use it: refused after the transaction has ended, and never able to
 * end it. It guards against mistakes; the store checks the transaction's state again before it commits.
 */
export function guarded<Connection extends object>(
  connection: Connection,
  lending: Lending,
  isLentOn?: IsLentOn,
): Connection {
  return new Proxy(connection, {
    get(target, property) {
      assertOpen(lending);
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        assertOpen(lending);
        assertKeepsTransaction(args[0]);
        const value: unknown = Reflect.apply(member, target, args);
        return isLentOn?.(value) ? guarded(value, lending) : value;
      };
    },
  });
}

export function assertOpen(lending: Lending): void {
  if (!lending.open) {
    throw new Error(
      "the transaction has ended: `tx` may be used only until the handler returns, throws or exceeds its time limit",
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
