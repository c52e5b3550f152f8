import { setImmediate as nextTurn } from "node:timers/promises";
import { LinkedList, type ListEntry } from "../system/index.ts";
import { type CallSite, callSite, callSiteNow, showCallSite } from "./call-site.ts";
import type { TransactionObserver } from "./transaction.ts";

interface PendingCall {
  /** The statement's text, or the method's name. */
  readonly label: string;
  /** The handler's line; known in dry runs and tests. */
  readonly site: CallSite | undefined;
  /** Set where the handler returned before it had ended: no code waits for its result. */
  isAbandoned: boolean;
}

export class HandlerTransaction {
  isOpen = true;
  /** Every call counts from the moment in which the handler makes it. */
  readonly pending = new LinkedList<PendingCall>();
  /** The first call after its end: the handler did not await a call that it had started. */
  usedAfterEnd: Pick<PendingCall, "label" | "site"> | undefined;
  /** Failed calls by their errors: an error that no code awaits fails the event. */
  failedCalls: Map<unknown, PendingCall> | undefined;
  /** The call that failed without code that awaited it. */
  unawaitedFailure: PendingCall | undefined;
  /** Whether the handler set a savepoint, to which it may roll back; noted on PostgreSQL. */
  hasSavepoint = false;
  /** Whether the database still has the transaction open: an error may have ended it, or the handler itself. */
  readonly isInTransaction: () => boolean;
  /** In dry runs, and where statements are recorded. */
  readonly observer: TransactionObserver | undefined;

  constructor(isInTransaction: () => boolean, observer?: TransactionObserver) {
    this.isInTransaction = isInTransaction;
    this.observer = observer;
  }
}

/** Which transaction an error of a statement belongs to, for as long as the error is kept. */
const transactionOfError = new WeakMap<object, HandlerTransaction>();

/**
 * Runs a call of the handler at once, and settles after the microtasks that are due. So a handler that does not await it
 * returns before its end, on a synchronous driver too.
 */
export function trackCall<T>(transaction: HandlerTransaction, what: string, run: () => T | Promise<T>): Promise<T> {
  return new Promise<T>((resolve) => {
    assertOpen(transaction, what);
    const site = callSite(transaction.observer !== undefined);
    const entry = transaction.pending.add({ label: what, site, isAbandoned: false });
    const returned = (value: T): void =>
      afterMicrotasks(() => {
        transaction.pending.remove(entry);
        resolve(value);
      });
    // Asynchronous, so that the stack of the error has the functions that wait for this call.
    const threw = (error: unknown): void => resolve(failCall(error, entry, transaction));
    try {
      const value = run();
      if (isThenable(value)) value.then(returned, threw);
      else returned(value);
    } catch (error) {
      threw(error);
    }
  });
}

async function failCall(error: unknown, entry: ListEntry<PendingCall>, transaction: HandlerTransaction) {
  await new Promise<void>(afterMicrotasks);
  const { value: call } = entry;
  transaction.pending.remove(entry);
  // Its rejection would be one that no code handles, and the event fails for the call already.
  if (call.isAbandoned) return new Promise<never>(() => {});
  transaction.failedCalls ??= new Map();
  transaction.failedCalls.set(error, call);
  // Drivers that wait for an answer throw without a frame of the handler.
  showCallSite(error, call.site ?? callSiteNow());
  if (typeof error === "object" && error !== null) transactionOfError.set(error, transaction);
  watchRejections();
  throw error;
}

let waiting: (() => void)[] = [];

/** Calls back when the microtasks that are due have run: Node runs its next ticks after them. */
function afterMicrotasks(run: () => void): void {
  // All that wait in the same tick share it.
  if (waiting.push(run) > 1) return;
  process.nextTick(() => {
    const due = waiting;
    waiting = [];
    for (const one of due) one();
  });
}

let isWatching = false;

/**
 * Looks at the unhandled rejections of this turn, after a call failed in it. Only Node knows whether code awaits a call, and
 * it reports that at the end of the turn. A listener for good would be the application's to install.
 */
function watchRejections(): void {
  if (isWatching) return;
  isWatching = true;
  process.prependListener("unhandledRejection", noteRejection);
  setImmediate(() => {
    isWatching = false;
    process.off("unhandledRejection", noteRejection);
  });
}

/** The event of an unawaited call fails; any other rejection is the process's, as if this had not listened. */
function noteRejection(reason: unknown): void {
  const transaction = typeof reason === "object" && reason !== null ? transactionOfError.get(reason) : undefined;
  if (transaction !== undefined) transaction.unawaitedFailure ??= transaction.failedCalls?.get(reason);
  else if (process.listenerCount("unhandledRejection") === 1) {
    process.off("unhandledRejection", noteRejection);
    void Promise.reject(reason);
  }
}

/** May be called again before the commit. @throws Error for a call that had not ended, or failed unawaited */
export function endHandlerTransaction(transaction: HandlerTransaction): void {
  transaction.isOpen = false;
  const unfinished = transaction.pending.first ?? transaction.usedAfterEnd;
  for (const call of transaction.pending) call.isAbandoned = true;
  if (unfinished !== undefined) throw notAwaited("the handler returned before this was finished", unfinished);
  if (transaction.unawaitedFailure !== undefined)
    throw notAwaited("this failed and was not awaited", transaction.unawaitedFailure);
}

const LONGEST_SHOWN = 300;

function notAwaited(problem: string, { label, site }: Pick<PendingCall, "label" | "site">): Error {
  const shown = label.length > LONGEST_SHOWN ? `${label.slice(0, LONGEST_SHOWN)} …` : label;
  const error = new Error(`${problem}: ${shown}; await every use of \`tx\` and \`notify\``);
  showCallSite(error, site);
  return error;
}

/** Ends the handle after the microtasks that are due, and finds a failed statement that was not awaited. */
export async function drainAndEndHandlerTransaction(transaction: HandlerTransaction): Promise<void> {
  endHandlerTransaction(transaction);
  await new Promise<void>(afterMicrotasks);
  // Node reports unhandled rejections at the end of the turn.
  if (transaction.failedCalls !== undefined) await nextTurn();
  endHandlerTransaction(transaction);
}

/** The differences between the drivers, and between their objects. */
export interface GuardRules {
  /** The object's name in errors, such as `connection`. */
  readonly name: string;
  /** Every other member of the object is refused, those of later versions of the driver too. */
  readonly allowed: readonly string[];
  /** Receives each promise that a call started. */
  readonly onStarted?: (pending: Promise<unknown>) => void;
  /** @returns the arguments that the driver gets @throws TypeError for a call that no handler may make */
  readonly check?: (method: string | symbol, args: readonly unknown[]) => readonly unknown[];
  /** Makes a call that needs more than the driver's own method; undefined leaves it to that method. */
  readonly call?: (method: string | symbol, args: readonly unknown[]) => unknown;
}

/** Without `valueOf`, which would return the unguarded object. */
const OF_EVERY_OBJECT = new Set<string | symbol>(["constructor", "hasOwnProperty", "toString"]);

/**
 * An object of the driver as a handler may use it: its allowed members until the transaction has ended. It guards
 * against mistakes; the store checks the transaction's state again before it commits.
 */
export function guardConnection<Target extends object>(
  target: Target,
  transaction: HandlerTransaction,
  rules: GuardRules,
): Target {
  const { name, allowed, onStarted, check, call } = rules;
  const refuseChange = (_target: object, property?: unknown): never => {
    const what = typeof property === "object" || property === undefined ? "" : `${String(property)} of `;
    throw new TypeError(`the handler may not change ${what}the ${name}, which belongs to the driver`);
  };
  return new Proxy<Target>(target, {
    get(_target, property) {
      assertOpen(transaction, `tx.connection.${String(property)}`);
      // `await` asks every object for `then`.
      if (!(property in target)) return undefined;
      if (!allowed.includes(property as string) && !OF_EVERY_OBJECT.has(property)) {
        const refused = `the handler may not use ${String(property)} of the ${name}`;
        throw new TypeError(`${refused}; it may use ${allowed.join(", ")}`);
      }
      const member: unknown = Reflect.get(target, property, target);
      // Query builders ask for the class.
      if (typeof member !== "function" || property === "constructor") return member;
      return (...args: unknown[]) => {
        const what = statementText(args[0]) ?? `tx.connection.${String(property)}()`;
        assertOpen(transaction, what);
        const sent = check?.(property, args) ?? args;
        const value: unknown = call?.(property, sent) ?? Reflect.apply(member, target, sent);
        if (!isThenable(value)) return value;
        onStarted?.(value);
        return trackCall(transaction, what, () => value);
      };
    },
    set: refuseChange,
    defineProperty: refuseChange,
    deleteProperty: refuseChange,
    setPrototypeOf: refuseChange,
    preventExtensions: refuseChange,
  });
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** @throws Error when the transaction is over: no later write may commit by itself */
export function assertOpen(transaction: HandlerTransaction, what?: string): void {
  if (!transaction.isOpen) {
    transaction.usedAfterEnd ??= { label: what ?? "tx", site: callSiteNow() };
    throw new Error(
      "the transaction has ended: `tx` may be used only until the handler returns, throws or exceeds its time limit",
    );
  }
  if (!transaction.isInTransaction()) {
    throw new Error(
      "the transaction was ended inside the handler, by the database after an error or by a statement of its own; " +
        "throw that error on, and leave the commit to Oncehook",
    );
  }
}

/** The text of a statement, as drivers take it: by itself or in an object. */
function statementText(statement: unknown): string | undefined {
  const text = typeof statement === "object" && statement !== null ? Reflect.get(statement, "text") : statement;
  return typeof text === "string" ? text : undefined;
}
