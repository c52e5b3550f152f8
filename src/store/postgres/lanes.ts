import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import { type Clock, keyText } from "../../domain/index.ts";
import { inOwnContext } from "../own-context.ts";
import type { Completion, Deadline, NewRecord, OnceEnding, OnceScope } from "../store.ts";
import { unlessLate } from "../unless-late.ts";
import { Group } from "./group.ts";
import { withClient } from "./pool.ts";
import type { Candidate } from "./seat.ts";
import { Temper } from "./temper.ts";

/** PostgreSQL keeps 64 savepoints of a transaction where others see them at no cost. */
const MOST_MEMBERS = 32;
/** Whoever has less time left is served by itself, under limits that know its deadline. */
const LEAST_TIME_MS = 3_000;
/** After this time in the queue the lanes are stuck, and whoever waits is served by itself. */
const LONGEST_WAIT_MS = 500;
const LOOK_EVERY_MS = 100;
/** A transaction of one event holds its lane no longer than this; it goes on beside it. */
const SINGLE_MS = 20;

/**
 * Events that wait at the same time share a transaction, which is what they cost least: a conversation with the server
 * costs more than what is said. A few lanes take whatever waits, each as one group; nobody waits for a group to fill,
 * and whoever finds a free lane and no company is alone at once.
 */
export class Lanes {
  readonly #pool: pg.Pool | undefined;
  readonly #clock: Clock;
  readonly #temper = new Temper();
  /** The events of groups at work: another delivery of one waits for it here, not for its lock in a group. */
  readonly #atWork = new Set<string>();
  #waiting: Candidate[] = [];
  #lanes = 0;
  #look: NodeJS.Timeout | undefined;

  /** @param pool as many connections as lanes; without it everybody is alone */
  constructor(pool: pg.Pool | undefined, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /**
   * Serves the event in company, where it can be.
   * @param alone serves it in a transaction of its own
   */
  async serve(
    record: NewRecord,
    run: (scope: OnceScope) => Promise<Completion>,
    deadline: Deadline,
    alone: () => Promise<OnceEnding>,
  ): Promise<OnceEnding> {
    const type = `${record.version} ${record.eventType}`;
    const waitsSince = performance.now();
    const hasTime = deadline - waitsSince > LEAST_TIME_MS;
    if (this.#pool === undefined || !hasTime || this.#temper.isLoner(type)) return alone();
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<OnceEnding | "alone">();
    const ended = Promise.withResolvers<void>();
    this.#waiting.push({
      record,
      type,
      deadline,
      waitsSince,
      run: inOwnContext(run),
      settle,
      fail,
      ended: ended.promise,
    });
    this.#look ??= setTimeout(() => this.#freeTheStuck(), LOOK_EVERY_MS);
    this.#open();
    try {
      const ending = await promise;
      return ending === "alone" ? await alone() : ending;
    } finally {
      ended.resolve();
    }
  }

  #open(): void {
    const { max } = this.#pool?.options ?? { max: 0 };
    if (this.#lanes < max && this.#waiting.length > 0) void this.#lane();
  }

  async #lane(): Promise<void> {
    this.#lanes += 1;
    // Whatever has come by the end of this turn of the event loop is in the group.
    await nextTurn();
    for (let group = this.#next(); group.length > 0; group = this.#next()) await this.#serve(group);
    this.#lanes -= 1;
  }

  /** Takes who waits, first come, first served; but no event that is at work already. */
  #next(): Candidate[] {
    const group: Candidate[] = [];
    const left: Candidate[] = [];
    for (const candidate of this.#waiting) {
      const key = keyText(candidate.record);
      if (group.length === MOST_MEMBERS || this.#atWork.has(key)) {
        left.push(candidate);
        continue;
      }
      this.#atWork.add(key);
      group.push(candidate);
    }
    this.#waiting = left;
    return group;
  }

  async #serve(group: readonly Candidate[]): Promise<void> {
    const [first, second] = group;
    if (first === undefined || this.#pool === undefined) return;
    if (second === undefined) {
      await this.#single(first);
      return;
    }
    let rest: readonly Candidate[] = [];
    try {
      const deadline = Math.min(...group.map((one) => one.deadline));
      const run = (client: pg.ClientBase) => new Group(client, this.#clock, this.#temper).run(group);
      rest = await withClient(this.#pool, deadline, run);
    } catch {
      // No connection for the group: everybody tries by himself, and hears himself what is wrong.
      for (const candidate of group) candidate.settle("alone");
    }
    for (const { record } of group) this.#atWork.delete(keyText(record));
    this.#waiting.unshift(...rest);
  }

  async #single({ record, ended, settle }: Candidate): Promise<void> {
    settle("alone");
    const gone = ended.then(() => void this.#atWork.delete(keyText(record)));
    await unlessLate(gone, SINGLE_MS, undefined);
    // Who waited for this very event has a lane again.
    void gone.then(() => this.#open());
  }

  #freeTheStuck(): void {
    this.#look = undefined;
    const longest = performance.now() - LONGEST_WAIT_MS;
    const stuck = this.#waiting.filter(({ waitsSince }) => waitsSince < longest);
    if (stuck.length > 0) this.#waiting = this.#waiting.filter(({ waitsSince }) => waitsSince >= longest);
    for (const { settle } of stuck) settle("alone");
    if (this.#waiting.length > 0) this.#look = setTimeout(() => this.#freeTheStuck(), LOOK_EVERY_MS);
  }
}
