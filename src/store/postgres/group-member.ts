import type pg from "pg";
import { type Clock, withTimeout } from "../../domain/index.ts";
import { endHandlerTransaction, HandlerTransaction } from "../handler-transaction.ts";
import { type Completion, type PendingEvent, runHandler } from "../once.ts";
import type { Transaction } from "../transaction.ts";
import { transientReason } from "./database-errors.ts";
import { assertAllowedInHandler, createHandle, isPlainStatement } from "./handler-transaction.ts";
import { createScope } from "./once.ts";
import type { QueuedNotification } from "./once-statements.ts";
import { executeOn } from "./statement.ts";
import type { WireStatement } from "./statement-batch.ts";

/** An event that waits for a group, or is in one. */
export interface QueuedEvent extends PendingEvent {
  /** What its handler is known by. */
  readonly type: string;
  readonly name: string;
  readonly queuedAt: number;
  /** How often it was undone with an optimistic group. */
  undone: number;
  /** Set where only a sequential group takes it. */
  mustBeSequential: boolean;
  /** Resolves when it has ended, wherever that was. */
  readonly ended: Promise<void>;
  /** Lets it run in a transaction of its own; only the first of these calls, `settle` and `fail` counts. */
  runAlone(): void;
}

/** A member that takes longer leaves the group. */
const MAX_MEMBER_MS = 30;

/** How a member ended; one that runs alone has left the group, because of an unsupported statement, a timeout or a server error. */
export type MemberResult =
  | {
      readonly kind: "done";
      readonly completion: Completion;
      readonly notifications: readonly QueuedNotification[];
    }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "runs alone"; readonly reason: "unsupported" | "late" | "refused" };

/** One member of a group: its handle allows reading and writing rows, and nothing that outlives a savepoint. */
export class GroupMember {
  readonly transaction: HandlerTransaction;
  readonly #client: pg.ClientBase;
  readonly #clock: Clock;
  #prefix: readonly WireStatement[];
  #isUnsupported = false;
  #hasServerError = false;

  /** @param prefix what its first statement is sent with; a handler that sends none costs no savepoint */
  constructor(client: pg.ClientBase, clock: Clock, prefix: readonly WireStatement[]) {
    this.#client = client;
    this.#clock = clock;
    this.#prefix = prefix;
    this.transaction = new HandlerTransaction(() => client.getTransactionStatus() !== "I");
  }

  /** Whether anything was sent, so that there is something to release or undo. */
  get hasStatements(): boolean {
    return this.#prefix.length === 0;
  }

  async run(event: PendingEvent): Promise<MemberResult> {
    const notifications: QueuedNotification[] = [];
    const scope = createScope(this.#createHandle(), this.transaction, this.#clock, notifications);
    const running = runHandler(event, scope).then(
      (completion) => this.#finish({ kind: "done", completion, notifications }),
      (error: unknown): MemberResult =>
        transientReason(error) === undefined
          ? { kind: "failed", error }
          : { kind: "runs alone", reason: "refused" },
    );
    const turn = await withTimeout<MemberResult, MemberResult>(running, MAX_MEMBER_MS, {
      kind: "runs alone",
      reason: "late",
    });
    this.transaction.isOpen = false;
    if (this.#isUnsupported) return { kind: "runs alone", reason: "unsupported" };
    // What the server refuses here it may grant to who is alone, or refuse again and be believed.
    return this.#hasServerError ? { kind: "runs alone", reason: "refused" } : turn;
  }

  #finish(turn: MemberResult): MemberResult {
    try {
      endHandlerTransaction(this.transaction);
      return turn;
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  #createHandle(): Transaction {
    return createHandle(this.transaction, {
      assertAllowed: (sql) => {
        assertAllowedInHandler(sql);
        if (!isPlainStatement(sql)) this.#rejectStatement();
      },
      execute: (statement) => {
        const prefix = this.#prefix;
        this.#prefix = [];
        const executing = executeOn(this.#client, statement, { prefix });
        return executing.catch((error: unknown) => {
          this.#hasServerError = true;
          throw error;
        });
      },
      connection: () => this.#rejectStatement(),
    });
  }

  /** What would stay for the members after this one, such as a setting, ends its turn: it runs again, alone. */
  #rejectStatement(): never {
    this.#isUnsupported = true;
    throw new Error("this event runs again in its own transaction");
  }
}
