import { setImmediate as nextTurn } from "node:timers/promises";
import type { CompiledQuery } from "kysely";
import pg from "pg";
import type { Clock } from "../../../domain/index.ts";
import { withTimeout } from "../../../system/index.ts";
import { endHandlerTransaction, HandlerTransaction } from "../../handler-transaction.ts";
import type { PendingEvent } from "../../once.ts";
import type { QualifiedNames } from "../../qualified-names.ts";
import type { Deadline } from "../../retry-until.ts";
import { StoreError } from "../../store-errors.ts";
import { markStaleStatement } from "../wire/database-errors.ts";
import type { WireStatement } from "../wire/message-writer.ts";
import { qualifiedNamesOf } from "../wire/names-of-connection.ts";
import { namesOf, type PreparedNames } from "../wire/prepared-names.ts";
import { sendBatch } from "../wire/statement.ts";
import { StatementBatch, type StatementResult, toQueryResult, typedStatement } from "../wire/statement-batch.ts";
import { type CompletedEvent, eventStatementsOf, type HandlerResult, pauseOriginalsAfter } from "./event-statements.ts";
import { type FunctionCheck, NEWEST_FUNCTION } from "./function-check.ts";
import { createGroupHandle, type Execute } from "./handle.ts";
import { BEGIN, commit, RESET_SESSION, rollback, timeLeft } from "./in-transaction.ts";
import { runMemberHandler } from "./single-event.ts";

/** A handler that takes longer, apart from the database's part, leaves the group, since the others wait for it. */
const MAX_HANDLERS_MS = 30;

/** Why an event cannot stay in an optimistic group. */
export type Unfit =
  /** It sent a statement after an answer, or one more behind another member's, whose uncommitted writes it could read. */
  | "dependent"
  /** It asked for an effect that would stay for the members after it, or for the driver's connection. */
  | "unsupported"
  | "late"
  /** A statement of its own was refused, or its handler failed after it had written. */
  | "failed";

/** The end of an optimistic group: nothing of it is left in the database unless it committed. */
export type GroupResult =
  | { readonly kind: "committed" }
  | { readonly kind: "unfit"; readonly reasons: ReadonlyMap<PendingEvent, Unfit> }
  | { readonly kind: "unknown"; readonly error: StoreError };

/**
 * Several events in one transaction and two round trips. The first has the statements of all handlers, which start together.
 * The second has the completed records, the notifications, the log rows and COMMIT. There are no savepoints and no record
 * before the handler. An event that another process has completed meanwhile makes its INSERT fail, and the group is undone.
 *
 * No lock separates two members. So one may stay only where no other's statement goes between its statements, and no statement
 * depends on an answer. Then the group is the same as its members one after the other.
 */
export class OptimisticGroup {
  readonly #client: pg.ClientBase;
  readonly #clock: Clock;
  readonly #members: readonly OptimisticMember[];
  readonly #functions: FunctionCheck;
  readonly #deadline: Deadline;
  #queue: QueuedStatement[] = [];
  #queued = Promise.withResolvers<void>();
  /** The member whose statement was queued last. */
  #lastSender: OptimisticMember | undefined;
  /** Whether the server has answered BEGIN: until then a handler's transaction is one that will begin. */
  #hasBegun = false;
  /** Whether a statement failed, and the transaction with it. */
  #isAborted = false;

  /** @param events in one order for all processes, so that two groups with the same events do not deadlock */
  constructor(client: pg.ClientBase, clock: Clock, functions: FunctionCheck, events: readonly PendingEvent[]) {
    this.#client = client;
    this.#clock = clock;
    this.#functions = functions;
    this.#deadline = Math.min(...events.map(({ deadline }) => deadline));
    const transaction: GroupTransaction = {
      send: (statement) => this.#enqueue(statement),
      isOpen: () => !this.#hasBegun || client.getTransactionStatus() !== "I",
      names: namesOf(client),
      qualified: qualifiedNamesOf(client),
    };
    this.#members = events.map((event) => new OptimisticMember(event, clock, transaction));
  }

  async run(): Promise<GroupResult> {
    const startedAt = this.#clock.now();
    try {
      const running = Promise.all(this.#members.map((member) => member.run()));
      await this.#sendUntilEnded(running);
      // Calls that a handler started without awaiting them arrive by now.
      await nextTurn();
      const unfit = this.#close();
      if (unfit.size === 0 && !this.#isAborted) return await this.#commit(startedAt);
      await rollback(this.#client);
      return { kind: "unfit", reasons: unfit };
    } catch (error) {
      this.#close();
      const results = this.#members.flatMap(({ result }) => result ?? []);
      pauseOriginalsAfter(error, results);
      await rollback(this.#client);
      if (error instanceof StoreError && error.reason === "commit_unknown") return { kind: "unknown", error };
      return { kind: "unfit", reasons: new Map() };
    }
  }

  /** Sends what the handlers ask for, until all of them have ended or one is late. */
  async #sendUntilEnded(running: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    const ended = running.then(() => {
      hasEnded = true;
    });
    let leftMs = MAX_HANDLERS_MS;
    while (!hasEnded && leftMs > 0) {
      // A handler that asks later than the others joins the next round trip.
      if (this.#queue.length < this.#members.length) await nextTurn();
      if (this.#queue.length > 0) await this.#send(this.#queue.splice(0));
      else if (!hasEnded) {
        this.#queued = Promise.withResolvers();
        const since = performance.now();
        await withTimeout(Promise.race([ended, this.#queued.promise]), leftMs, undefined);
        leftMs -= performance.now() - since;
      }
    }
  }

  /** @throws Error where the event runs again instead */
  #enqueue(statement: QueuedStatement): void {
    const { member } = statement;
    if (this.#isAborted) throw runsAgain();
    if (member.hasAnswer || (member.hasSent && member !== this.#lastSender)) throw member.leave("dependent");
    this.#lastSender = member;
    member.hasSent = true;
    this.#queue.push(statement);
    this.#queued.resolve();
  }

  async #send(statements: readonly QueuedStatement[]): Promise<void> {
    const opening = this.#hasBegun ? [] : [BEGIN, NEWEST_FUNCTION];
    const batch = new StatementBatch([...opening, ...statements.map(({ statement }) => statement)]);
    try {
      await sendBatch(this.#client, batch, timeLeft(this.#deadline));
    } catch (error) {
      // A connection's own error is no member's.
      const isAnswer = error instanceof pg.DatabaseError;
      const failed = isAnswer ? statements[batch.results.length - opening.length] : undefined;
      failed?.member.statementFailed(failed.statement, error);
      failed?.reject(error);
      return this.#abort(statements);
    } finally {
      this.#hasBegun = true;
    }
    if (opening.length > 0 && this.#functions.hasChanged(batch.results[1]?.rows[0]?.[0]))
      return this.#abort(statements);
    for (const [index, { resolve }] of statements.entries()) resolve(batch.results[index + opening.length]);
  }

  /** Ends statements without an answer: what their members do about that says nothing of them. */
  #abort(statements: readonly QueuedStatement[]): void {
    this.#isAborted = true;
    for (const { reject } of [...statements, ...this.#queue.splice(0)]) reject(runsAgain());
  }

  /** Ends every handle, and every statement that is not sent. @returns the members that cannot stay */
  #close(): Map<PendingEvent, Unfit> {
    const unfit = new Map<PendingEvent, Unfit>();
    for (const member of this.#members) {
      const reason = member.close(this.#isAborted);
      if (reason !== undefined) unfit.set(member.event, reason);
    }
    for (const { reject } of this.#queue.splice(0)) reject(runsAgain());
    return unfit;
  }

  async #commit(startedAt: Date): Promise<GroupResult> {
    const completed: CompletedEvent[] = [];
    for (const { event, result } of this.#members)
      if (result !== undefined) completed.push({ record: event.record, ...result });
    const last = [...(this.#hasBegun ? [] : [BEGIN]), ...RESET_SESSION];
    last.push(...eventStatementsOf(this.#client).completions(completed, startedAt, this.#clock.now()));
    // Nothing responds 200 before this COMMIT: `settle` is called below it.
    if (completed.length > 0) await commit(this.#client, last, timeLeft(this.#deadline));
    else await rollback(this.#client);
    for (const { event, result, failure } of this.#members) {
      if (result !== undefined) event.settle({ kind: "completed", result: result.completion.result });
      else event.fail(failure?.error);
    }
    return { kind: "committed" };
  }
}

interface QueuedStatement {
  readonly member: OptimisticMember;
  readonly statement: WireStatement;
  resolve(result: StatementResult | undefined): void;
  reject(error: unknown): void;
}

/** The transaction of a group, as its members use it. */
interface GroupTransaction {
  readonly send: (statement: QueuedStatement) => void;
  readonly isOpen: () => boolean;
  readonly names: PreparedNames;
  readonly qualified: QualifiedNames;
}

/** One member: its handle sends only plain statements, and all of them before the first answer. */
class OptimisticMember {
  readonly event: PendingEvent;
  readonly transaction: HandlerTransaction;
  result: HandlerResult | undefined;
  failure: { readonly error: unknown } | undefined;
  hasSent = false;
  hasAnswer = false;
  readonly #clock: Clock;
  readonly #group: GroupTransaction;
  #isRunning = true;
  #unfit: Unfit | undefined;

  constructor(event: PendingEvent, clock: Clock, group: GroupTransaction) {
    this.event = event;
    this.transaction = new HandlerTransaction(group.isOpen, event.observer);
    this.#clock = clock;
    this.#group = group;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      const execute: Execute = (statement) => this.#execute(statement);
      const handle = createGroupHandle(this.transaction, execute, this.#group.qualified, () => {
        throw this.leave("unsupported");
      });
      this.result = await runMemberHandler(this.event, handle, this.transaction, this.#clock);
    } catch (error) {
      this.failure = { error };
    }
    this.#isRunning = false;
  }

  /** Ends the handle. @param isAborted whether the failure of this member says nothing @returns why it cannot stay */
  close(isAborted: boolean): Unfit | undefined {
    // A handler that still runs waits for its statements, which then fail.
    if (this.#isRunning) this.transaction.isOpen = false;
    else this.#endTransaction();
    if (this.#unfit !== undefined || isAborted) return this.#unfit;
    if (this.#isRunning) return "late";
    return this.failure !== undefined && this.hasSent ? "failed" : undefined;
  }

  #endTransaction(): void {
    try {
      endHandlerTransaction(this.transaction);
    } catch (error) {
      this.failure ??= { error };
      this.result = undefined;
    }
  }

  statementFailed({ text, name }: WireStatement, error: unknown): void {
    this.#unfit ??= "failed";
    if (name !== undefined && this.#group.names.drop(text, error)) markStaleStatement(error);
  }

  async #execute(query: Pick<CompiledQuery, "sql" | "parameters">) {
    const statement = typedStatement(query, this.#group.names.nameFor(query.sql));
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult | undefined>();
    this.#group.send({ member: this, statement, resolve, reject });
    try {
      return toQueryResult(await promise);
    } finally {
      this.hasAnswer = true;
    }
  }

  /** The event runs again where it may do this. @returns the error of the statement that it sent */
  leave(reason: Unfit): Error {
    this.#unfit ??= reason;
    return runsAgain();
  }
}

function runsAgain(): Error {
  return new Error("this event runs again in another transaction");
}
