import type pg from "pg";
import { type Clock, keyText } from "../../../domain/index.ts";
import { withTimeout } from "../../../system/index.ts";
import { HandlerTransaction } from "../../handler-transaction.ts";
import type { Completion, OnceResult, OnceScope, PendingEvent } from "../../once.ts";
import { transientReason } from "../wire/database-errors.ts";
import type { WireStatement } from "../wire/message-writer.ts";
import { qualifiedNamesOf } from "../wire/names-of-connection.ts";
import { executeOn } from "../wire/statement.ts";
import type { HandlerResult } from "./event-statements.ts";
import { createGroupHandle, type Execute } from "./handle.ts";
import { runMemberHandler } from "./single-event.ts";

export type RunInOwnTransaction = (event: PendingEvent) => Promise<OnceResult>;

/** An event in the queue or in a group. Only the first of `runInOwnTransaction`, `settle` and `fail` counts. */
export class QueuedEvent implements PendingEvent {
  readonly record: PendingEvent["record"];
  readonly deadline: number;
  readonly observer: PendingEvent["observer"];
  /** The name of its handler. */
  readonly type: string;
  /** By which late runs are counted: a tenant whose events are slow keeps no other one out of the groups. */
  readonly typeOfSource: string;
  readonly name: string;
  readonly queuedAt = performance.now();
  /** How often an optimistic group rolled it back. */
  rollbacks = 0;
  /** Set where only a sequential group takes it. */
  mustBeSequential = false;
  readonly #event: PendingEvent;
  readonly #runInOwnTransaction: RunInOwnTransaction;
  #isTaken = false;
  #hasEnded = false;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(event: PendingEvent, runInOwnTransaction: RunInOwnTransaction) {
    this.record = event.record;
    this.deadline = event.deadline;
    this.observer = event.observer;
    this.type = `${event.record.version} ${event.record.eventType}`;
    this.typeOfSource = `${event.record.source} ${this.type}`;
    this.name = keyText(event.record);
    this.#event = event;
    this.#runInOwnTransaction = runInOwnTransaction;
  }

  /** Resolves when it has ended, in a group or in its own transaction. */
  get ended(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    if (this.#hasEnded) this.#ended.resolve();
    return this.#ended.promise;
  }

  handle(scope: OnceScope): unknown {
    return this.#event.handle(scope);
  }

  complete(returned: unknown): Completion {
    return this.#event.complete(returned);
  }

  settle(result: OnceResult): void {
    if (!this.#isTaken) this.#end(() => this.#event.settle(result));
  }

  fail(error: unknown): void {
    if (!this.#isTaken) this.#end(() => this.#event.fail(error));
  }

  runInOwnTransaction(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    this.#runInOwnTransaction(this.#event).then(
      (result) => this.#end(() => this.#event.settle(result)),
      (error: unknown) => this.#end(() => this.#event.fail(error)),
    );
  }

  #end(report: () => void): void {
    this.#isTaken = true;
    this.#hasEnded = true;
    this.#ended?.resolve();
    report();
  }
}

/** A member that takes longer leaves the group. */
const MAX_MEMBER_MS = 30;

/** How a member ended; one leaves for its own transaction after an unsupported statement, a timeout or a server error. */
export type MemberResult =
  | ({ readonly kind: "done" } & HandlerResult)
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "own transaction"; readonly reason: "unsupported" | "late" | "refused" };

/** One member of a group: its handle allows reading and writing rows, and nothing that outlives a savepoint. */
export class GroupMember {
  readonly transaction: HandlerTransaction;
  readonly #client: pg.ClientBase;
  readonly #clock: Clock;
  #prefix: readonly WireStatement[];
  #isUnsupported = false;
  #hasServerError = false;

  /** @param prefix what its first statement is sent with; a handler that sends none costs no savepoint */
  constructor(
    client: pg.ClientBase,
    clock: Clock,
    prefix: readonly WireStatement[],
    observer: PendingEvent["observer"],
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#prefix = prefix;
    this.transaction = new HandlerTransaction(() => client.getTransactionStatus() !== "I", observer);
  }

  /** Whether anything was sent, so that there is something to release or undo. */
  get hasStatements(): boolean {
    return this.#prefix.length === 0;
  }

  async run(event: PendingEvent): Promise<MemberResult> {
    const late = { kind: "own transaction", reason: "late" } as const;
    const result = await withTimeout<MemberResult, MemberResult>(this.#handle(event), MAX_MEMBER_MS, late);
    this.transaction.isOpen = false;
    if (this.#isUnsupported) return { kind: "own transaction", reason: "unsupported" };
    // The server may accept the statement in the event's own transaction; an error there is final.
    return this.#hasServerError ? { kind: "own transaction", reason: "refused" } : result;
  }

  async #handle(event: PendingEvent): Promise<MemberResult> {
    const execute: Execute = (statement) => {
      const prefix = this.#prefix;
      this.#prefix = [];
      return executeOn(this.#client, statement, { prefix }).catch((error: unknown) => {
        this.#hasServerError = true;
        throw error;
      });
    };
    // A statement that affects the next members, such as a setting, sends the event into its own transaction.
    const tx = createGroupHandle(this.transaction, execute, qualifiedNamesOf(this.#client), () => {
      this.#isUnsupported = true;
      throw new Error("this event runs again in its own transaction");
    });
    try {
      return { kind: "done", ...(await runMemberHandler(event, tx, this.transaction, this.#clock)) };
    } catch (error) {
      const isTransient = transientReason(error) !== undefined;
      return isTransient ? { kind: "own transaction", reason: "refused" } : { kind: "failed", error };
    }
  }
}
