import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../../../domain/index.ts";
import { endHandlerTransaction } from "../../handler-transaction.ts";
import type { Deadline } from "../../retry-until.ts";
import { StoreError } from "../../store-errors.ts";
import type { WireStatement } from "../wire/message-writer.ts";
import { prepared } from "../wire/prepared-names.ts";
import { sendBatch } from "../wire/statement.ts";
import { eventStatementsOf, pauseOriginalsAfter } from "./event-statements.ts";
import type { GroupEligibility } from "./group-eligibility.ts";
import { GroupMember, type MemberResult, type QueuedEvent } from "./group-member.ts";
import { BEGIN, commit, RESET_SESSION, rollback, timeLeft } from "./in-transaction.ts";

/** A group starts no further member at this age: finished members wait for the commit. */
const MAX_GROUP_AGE_MS = 80;

type Savepoint = ReturnType<typeof savepoint>;

function savepoint(name: string) {
  return {
    set: prepared(`SAVEPOINT oncehook_${name}`),
    release: prepared(`RELEASE oncehook_${name}`),
    undo: prepared(`ROLLBACK TO oncehook_${name}`),
  };
}

/**
 * Members take them in turn. A refused release leaves the next member without a savepoint. That member then has nothing to
 * undo, which ends the group. Under one name it would undo the member before.
 */
const SAVEPOINTS = [savepoint("odd"), savepoint("even")] as const;

/**
 * One transaction for several events. Their records come first, in one order for all processes. Then comes each handler, in a
 * savepoint, and last their completions with COMMIT. An event that is not eligible runs in its own transaction.
 *
 * Handlers that read before they write reach 1.56 times the rate of a transaction for each event (decision 0094).
 */
export class SequentialGroup {
  readonly #client: pg.ClientBase;
  readonly #clock: Clock;
  readonly #eligibility: GroupEligibility;
  #deadline: Deadline = Number.POSITIVE_INFINITY;
  readonly #done: { event: QueuedEvent; member: GroupMember; result: Extract<MemberResult, { kind: "done" }> }[] = [];
  /** Events whose inserted record is deleted before commit. */
  readonly #releasedRecords: QueuedEvent[] = [];
  /** Callbacks that run after commit, once the row locks are released. */
  readonly #afterCommit: (() => void)[] = [];
  /** The statements that end the savepoint before; they go with the statement that begins the next. */
  #closeSavepoint: readonly WireStatement[] = [];
  #savepoints: readonly [own: Savepoint, next: Savepoint] = SAVEPOINTS;

  constructor(client: pg.ClientBase, clock: Clock, eligibility: GroupEligibility) {
    this.#client = client;
    this.#clock = clock;
    this.#eligibility = eligibility;
  }

  /** @returns the events that were not started and may join a later group; the others end in a transaction each */
  async run(events: readonly QueuedEvent[]): Promise<readonly QueuedEvent[]> {
    this.#deadline = Math.min(...events.map(({ deadline }) => deadline));
    try {
      const [first, ...others] = await this.#reserve(events);
      const rest = first === undefined ? [] : await this.#runMembers(first, others);
      this.#releasedRecords.push(...rest);
      await this.#close();
      for (const { event, result } of this.#done) {
        event.settle({ kind: "completed", result: result.completion.result });
      }
      for (const callback of this.#afterCommit) callback();
      return rest;
    } catch (error) {
      // A refused COMMIT leaves nothing: one of them broke a constraint that only COMMIT checks, and the others run again.
      const isKnown = !(error instanceof StoreError && error.reason === "commit_unknown");
      const results = this.#done.map(({ result }) => result);
      pauseOriginalsAfter(error, results);
      await rollback(this.#client);
      for (const { event } of isKnown ? [] : this.#done) event.fail(error);
      // A member that failed may have seen what is rolled back now, so it runs again like the others.
      for (const event of events) event.runInOwnTransaction();
      return [];
    }
  }

  /** Inserts the records. @returns whose record is new */
  async #reserve(events: readonly QueuedEvent[]): Promise<QueuedEvent[]> {
    const now = this.#clock.now();
    const statements = eventStatementsOf(this.#client);
    const inserts = events.map(({ record }) => statements.insertRecord(record, now));
    const [, ...answers] = await sendBatch(this.#client, [BEGIN, ...inserts], timeLeft(this.#deadline));
    const fresh: QueuedEvent[] = [];
    for (const [index, event] of events.entries()) {
      if (answers[index]?.rowCount === 1) fresh.push(event);
      else this.#afterCommit.push(() => event.runInOwnTransaction());
    }
    return fresh;
  }

  /** Runs the members one after the other. @returns those not started */
  async #runMembers(first: QueuedEvent, others: readonly QueuedEvent[]): Promise<readonly QueuedEvent[]> {
    const until = performance.now() + MAX_GROUP_AGE_MS;
    let goesOn = await this.#runMember(first);
    for (const [index, event] of others.entries()) {
      if (!goesOn || performance.now() > until) return others.slice(index);
      goesOn = await this.#runMember(event);
    }
    return [];
  }

  /** @returns whether the group may start another member */
  async #runMember(event: QueuedEvent): Promise<boolean> {
    const { type, typeOfSource } = event;
    if (this.#eligibility.needsOwnTransaction(type, typeOfSource)) {
      this.#leaveGroup(event);
      return true;
    }
    const [own, next] = this.#savepoints;
    const prefix = [...this.#closeSavepoint, own.set, ...RESET_SESSION];
    const member = new GroupMember(this.#client, this.#clock, prefix, event.observer);
    const result = await member.run(event);
    if (member.hasStatements) this.#savepoints = [next, own];
    if (result.kind === "done") {
      this.#eligibility.markInTime(typeOfSource);
      this.#done.push({ event, member, result });
      if (member.hasStatements) this.#closeSavepoint = [own.release];
      return true;
    }
    if (member.hasStatements) {
      this.#closeSavepoint = [];
      await sendBatch(this.#client, [own.undo, own.release]);
    }
    if (result.kind === "failed") {
      this.#releasedRecords.push(event);
      this.#afterCommit.push(() => event.fail(result.error));
      return true;
    }
    if (result.reason === "unsupported") this.#eligibility.markUnsupported(type);
    if (result.reason === "late") this.#eligibility.markLate(typeOfSource);
    this.#leaveGroup(event);
    // A member that waited for a lock or was slow delays the others and holds locks they may wait for.
    return result.reason === "unsupported";
  }

  #leaveGroup(event: QueuedEvent): void {
    this.#releasedRecords.push(event);
    this.#afterCommit.push(() => event.runInOwnTransaction());
  }

  async #close(): Promise<void> {
    if (this.#done.length === 0) {
      await rollback(this.#client);
      return;
    }
    // A statement that a handler started without awaiting it arrives by now, and so does the failure of one.
    await nextTurn();
    for (const { event, member } of this.#done) {
      try {
        endHandlerTransaction(member.transaction);
      } catch (error) {
        this.#eligibility.markUnsupported(event.type);
        throw error;
      }
    }
    const now = this.#clock.now();
    const statements = eventStatementsOf(this.#client);
    const last = [
      ...RESET_SESSION,
      ...this.#releasedRecords.map(({ record }) => statements.deleteRecord(record)),
      ...this.#done.flatMap(({ event, result }) =>
        statements.completion(event.record, result.completion, result.notifications, now),
      ),
      ...statements.originals(this.#done.map(({ event, result }) => ({ record: event.record, ...result }))),
    ];
    // Nothing responds 200 before this COMMIT: `run` calls `settle` after it.
    await commit(this.#client, last, timeLeft(this.#deadline));
  }
}
