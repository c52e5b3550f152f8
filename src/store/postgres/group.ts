import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../../domain/index.ts";
import { StoreFault } from "../store-fault.ts";
import type { Sent } from "./exchange.ts";
import { BEGIN, commit, RESETS, rollback } from "./in-transaction.ts";
import { completing, deleteRecord, insertRecord } from "./records.ts";
import { type Candidate, Seat, type Turn } from "./seat.ts";
import { exchange } from "./statement.ts";
import type { Temper } from "./temper.ts";

/** A group lets nobody else have a turn after this time: who is done waits for the commit. */
const GROUP_MS = 80;

interface Savepoint {
  readonly set: Sent;
  readonly release: Sent;
  readonly undo: Sent;
}

function savepoint(name: string): Savepoint {
  return {
    set: { name: `oncehook_set_${name}`, text: `SAVEPOINT oncehook_${name}` },
    release: { name: `oncehook_release_${name}`, text: `RELEASE oncehook_${name}` },
    undo: { name: `oncehook_undo_${name}`, text: `ROLLBACK TO oncehook_${name}` },
  };
}

/**
 * Members take them in turn. A member whose savepoint was never set, because the release of the one before was refused,
 * then has nothing to undo, which ends the group; under one name it would undo what the member before has done.
 */
const SAVEPOINTS = [savepoint("odd"), savepoint("even")] as const;
interface Done {
  readonly candidate: Candidate;
  readonly seat: Seat;
  readonly turn: Extract<Turn, { end: "done" }>;
}

/**
 * One transaction for several events: their records first, in one order for all processes, then each handler in a
 * savepoint of its own, then what completes them, together with COMMIT. Whoever cannot be served like this leaves, and
 * runs in a transaction of its own.
 */
export class Group {
  readonly #client: pg.ClientBase;
  readonly #clock: Clock;
  readonly #temper: Temper;
  readonly #done: Done[] = [];
  /** Whose record was inserted and shall not stay. */
  readonly #givenBack: Candidate[] = [];
  /** Tells those who failed or leave, once the locks of their records are gone. */
  readonly #farewells: (() => void)[] = [];
  /** What ends the savepoint before; it goes with the statement that begins the next. */
  #before: readonly Sent[] = [];
  #savepoints: readonly [own: Savepoint, next: Savepoint] = SAVEPOINTS;

  constructor(client: pg.ClientBase, clock: Clock, temper: Temper) {
    this.#client = client;
    this.#clock = clock;
    this.#temper = temper;
  }

  /** @returns who had no turn and may be in a later group; everybody else has been told how it ended */
  async run(candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
    try {
      const [first, ...others] = await this.#reserve(candidates.toSorted(inOrder));
      const rest = first === undefined ? [] : await this.#serve(first, others);
      this.#givenBack.push(...rest);
      await this.#close();
      for (const { candidate, turn } of this.#done) {
        candidate.settle({ ending: "completed", result: turn.completion.result });
      }
      for (const farewell of this.#farewells) farewell();
      return rest;
    } catch (error) {
      // Of a COMMIT that was refused it is known that nothing is left: one of them broke a constraint that only COMMIT
      // checks, and the others shall not pay for it.
      const isKnown = !(error instanceof StoreFault && error.reason === "commit_unknown");
      await rollback(this.#client);
      for (const { candidate } of isKnown ? [] : this.#done) candidate.fail(error);
      // Who failed may have seen what is undone now, and runs again like the others.
      for (const candidate of candidates) candidate.settle("alone");
      return [];
    }
  }

  /** Inserts the records. @returns whose record is new */
  async #reserve(candidates: readonly Candidate[]): Promise<Candidate[]> {
    const now = this.#clock.now();
    const inserts = candidates.map(({ record }) => insertRecord(record, now));
    const [, ...answers] = await exchange(this.#client, [BEGIN, ...inserts]);
    const fresh: Candidate[] = [];
    for (const [index, candidate] of candidates.entries()) {
      if (answers[index]?.rowCount === 1) fresh.push(candidate);
      else this.#farewells.push(() => candidate.settle("alone"));
    }
    return fresh;
  }

  /** Gives one after the other a turn. @returns who had none */
  async #serve(first: Candidate, others: readonly Candidate[]): Promise<readonly Candidate[]> {
    const until = performance.now() + GROUP_MS;
    let goesOn = await this.#seat(first);
    for (const [index, candidate] of others.entries()) {
      if (!goesOn || performance.now() > until) return others.slice(index);
      goesOn = await this.#seat(candidate);
    }
    return [];
  }

  /** @returns whether others may have a turn after this one */
  async #seat(candidate: Candidate): Promise<boolean> {
    const { type } = candidate;
    if (this.#temper.isLoner(type)) {
      this.#leaves(candidate);
      return true;
    }
    const [own, next] = this.#savepoints;
    const seat = new Seat(this.#client, this.#clock, [...this.#before, own.set, ...RESETS]);
    const turn = await seat.turn(candidate);
    if (seat.isTaken) this.#savepoints = [next, own];
    if (turn.end === "done") {
      this.#temper.inTime(type);
      this.#done.push({ candidate, seat, turn });
      if (seat.isTaken) this.#before = [own.release];
      return true;
    }
    if (seat.isTaken) {
      this.#before = [];
      await exchange(this.#client, [own.undo, own.release]);
    }
    if (turn.end === "failed") {
      this.#givenBack.push(candidate);
      this.#farewells.push(() => candidate.fail(turn.error));
      return true;
    }
    if (turn.why === "misfit") this.#temper.misfits(type);
    if (turn.why === "late") this.#temper.late(type);
    this.#leaves(candidate);
    // Who waited for a lock or was slow has held up the others, and holds what somebody else may wait for.
    return turn.why === "misfit";
  }

  #leaves(candidate: Candidate): void {
    this.#givenBack.push(candidate);
    this.#farewells.push(() => candidate.settle("alone"));
  }

  async #close(): Promise<void> {
    if (this.#done.length === 0) {
      await rollback(this.#client);
      return;
    }
    // What a handler began and did not wait for reaches its seat by now.
    await nextTurn();
    const hasty = this.#done.find(({ seat }) => seat.lending.usedLate);
    if (hasty !== undefined) {
      this.#temper.misfits(hasty.candidate.type);
      throw new Error("a handler returned before a statement it had begun was finished");
    }
    const now = this.#clock.now();
    await commit(this.#client, [
      ...RESETS,
      ...this.#givenBack.map(({ record }) => deleteRecord(record)),
      ...this.#done.flatMap(({ candidate, turn }) =>
        completing(candidate.record, turn.completion, turn.notifications, now),
      ),
    ]);
  }
}

/** One order for all processes: whoever inserts the same records meets the other at the first of them. */
function inOrder({ record: a }: Candidate, { record: b }: Candidate): number {
  if (a.eventId !== b.eventId) return a.eventId < b.eventId ? -1 : 1;
  return a.source < b.source ? -1 : 1;
}
