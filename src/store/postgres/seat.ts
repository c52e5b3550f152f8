import type pg from "pg";
import type { Clock } from "../../domain/index.ts";
import { type Lending, newLending, takeBack } from "../guarded.ts";
import type { Completion, Deadline, NewRecord, OnceEnding, OnceScope, Transaction } from "../store.ts";
import { unlessLate } from "../unless-late.ts";
import type { Sent } from "./exchange.ts";
import { passing } from "./hindrance.ts";
import { assertHandlerMay, isPlain, lend } from "./lent.ts";
import { scopeOf } from "./once.ts";
import type { Notification } from "./records.ts";
import { executeOn } from "./statement.ts";

/** A delivery that waits for a group, or is in one. */
export interface Candidate {
  readonly record: NewRecord;
  /** What its handler is known by. */
  readonly type: string;
  readonly deadline: Deadline;
  readonly waitsSince: number;
  readonly run: (scope: OnceScope) => Promise<Completion>;
  /** Ends it; `alone` where it shall run in a transaction of its own. Only the first word counts. */
  settle(ending: OnceEnding | "alone"): void;
  fail(error: unknown): void;
  /** Resolves when it has ended, wherever that was. */
  readonly ended: Promise<void>;
}

/** Who has not ended by then is no company for others. */
const OVERRUN_MS = 30;

/** How a turn ended. Who leaves shall run alone: for what it does, for how long it takes, or for what the server said. */
export type Turn =
  | { readonly end: "done"; readonly completion: Completion; readonly notifications: readonly Notification[] }
  | { readonly end: "failed"; readonly error: unknown }
  | { readonly end: "leaves"; readonly why: "misfit" | "late" | "refused" };

/** What a group lends to one of its members: rows to read and write, and nothing that outlives a savepoint. */
export class Seat {
  readonly lending: Lending;
  readonly #client: pg.ClientBase;
  readonly #clock: Clock;
  #prefix: readonly Sent[];
  #isMisfit = false;
  #isRefused = false;

  /** @param prefix what its first statement is sent with; a handler that sends none costs no savepoint */
  constructor(client: pg.ClientBase, clock: Clock, prefix: readonly Sent[]) {
    this.#client = client;
    this.#clock = clock;
    this.#prefix = prefix;
    this.lending = newLending(() => client.getTransactionStatus() !== "I");
  }

  /** Whether anything was sent, so that there is something to release or undo. */
  get isTaken(): boolean {
    return this.#prefix.length === 0;
  }

  async turn({ run }: Candidate): Promise<Turn> {
    const notifications: Notification[] = [];
    const running = run(scopeOf(this.#lent(), this.lending, this.#clock, notifications)).then(
      (completion) => this.#ended({ end: "done", completion, notifications }),
      (error: unknown): Turn =>
        passing(error) === undefined ? { end: "failed", error } : { end: "leaves", why: "refused" },
    );
    const turn = await unlessLate<Turn, Turn>(running, OVERRUN_MS, { end: "leaves", why: "late" });
    this.lending.open = false;
    if (this.#isMisfit) return { end: "leaves", why: "misfit" };
    // What the server refuses here it may grant to who is alone, or refuse again and be believed.
    return this.#isRefused ? { end: "leaves", why: "refused" } : turn;
  }

  #ended(turn: Turn): Turn {
    try {
      takeBack(this.lending);
      return turn;
    } catch (error) {
      return { end: "failed", error };
    }
  }

  #lent(): Transaction {
    return lend(this.lending, {
      assertAllowed: (sql) => {
        assertHandlerMay(sql);
        if (!isPlain(sql)) this.#refuse();
      },
      execute: (statement) => {
        const prefix = this.#prefix;
        this.#prefix = [];
        const executing = executeOn(this.#client, statement, { prefix });
        return executing.catch((error: unknown) => {
          this.#isRefused = true;
          throw error;
        });
      },
      driver: () => this.#refuse(),
    });
  }

  /** What would stay for the members after this one, such as a setting, ends its turn: it runs again, alone. */
  #refuse(): never {
    this.#isMisfit = true;
    throw new Error("this event runs again in a transaction of its own");
  }
}
