import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import { type Clock, keyText } from "../../domain/index.ts";
import type { Completion, OnceResult, OnceScope } from "../once.ts";
import type { NewRecord } from "../records.ts";
import type { Deadline } from "../retry-until.ts";
import { withTimeout } from "../with-timeout.ts";
import { Group } from "./group.ts";
import { GroupEligibility } from "./group-eligibility.ts";
import type { PendingEvent } from "./group-member.ts";
import { withClient } from "./pool.ts";

/** PostgreSQL keeps 64 savepoints of a transaction where others see them at no cost. */
const MAX_GROUP_SIZE = 32;
/** An event with less time left runs in its own transaction, under limits from its deadline. */
const MIN_REMAINING_MS = 3_000;
/** After this time in the queue all group connections are blocked, and the event runs in its own transaction. */
const MAX_QUEUE_MS = 500;
const QUEUE_CHECK_MS = 100;
/** A transaction of one event occupies a group slot no longer than this; it continues outside the slot. */
const SINGLE_MS = 20;

/**
 * Group commit: events that wait at the same time share a transaction, because round trips cost more than statements. A few
 * connections each take all waiting events as one group. No event waits for a group to fill; a single event runs at once.
 */
export class GroupScheduler {
  readonly #pool: pg.Pool | undefined;
  readonly #clock: Clock;
  readonly #eligibility = new GroupEligibility();
  /** Keys of events in running groups: another delivery of one waits here instead of for its row lock. */
  readonly #running = new Set<string>();
  #waiting: PendingEvent[] = [];
  #activeGroups = 0;
  #queueCheck: NodeJS.Timeout | undefined;

  /** @param pool one connection per concurrent group; without it every event runs in its own transaction */
  constructor(pool: pg.Pool | undefined, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /**
   * Runs the event in a group where possible.
   * @param alone runs it in its own transaction
   */
  async serve(
    record: NewRecord,
    run: (scope: OnceScope) => Promise<Completion>,
    deadline: Deadline,
    alone: () => Promise<OnceResult>,
  ): Promise<OnceResult> {
    const type = `${record.version} ${record.eventType}`;
    const waitsSince = performance.now();
    const hasTime = deadline - waitsSince > MIN_REMAINING_MS;
    if (this.#pool === undefined || !hasTime || this.#eligibility.mustRunAlone(type)) return alone();
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<OnceResult | "alone">();
    const ended = Promise.withResolvers<void>();
    this.#waiting.push({
      record,
      type,
      deadline,
      queuedAt: waitsSince,
      run: AsyncLocalStorage.bind(run),
      settle,
      fail,
      ended: ended.promise,
    });
    this.#queueCheck ??= setTimeout(() => this.#releaseOverdue(), QUEUE_CHECK_MS);
    this.#startGroup();
    try {
      const ending = await promise;
      return ending === "alone" ? await alone() : ending;
    } finally {
      ended.resolve();
    }
  }

  #startGroup(): void {
    const { max } = this.#pool?.options ?? { max: 0 };
    if (this.#activeGroups < max && this.#waiting.length > 0) void this.#runGroups();
  }

  async #runGroups(): Promise<void> {
    this.#activeGroups += 1;
    // Whatever has come by the end of this turn of the event loop is in the group.
    await nextTurn();
    for (let group = this.#takeGroup(); group.length > 0; group = this.#takeGroup())
      await this.#runGroup(group);
    this.#activeGroups -= 1;
  }

  /** Takes waiting events in order of arrival, except events that a running group holds. */
  #takeGroup(): PendingEvent[] {
    const group: PendingEvent[] = [];
    const left: PendingEvent[] = [];
    for (const event of this.#waiting) {
      const key = keyText(event.record);
      if (group.length === MAX_GROUP_SIZE || this.#running.has(key)) {
        left.push(event);
        continue;
      }
      this.#running.add(key);
      group.push(event);
    }
    this.#waiting = left;
    return group;
  }

  async #runGroup(group: readonly PendingEvent[]): Promise<void> {
    const [first, second] = group;
    if (first === undefined || this.#pool === undefined) return;
    if (second === undefined) {
      await this.#runSingle(first);
      return;
    }
    let rest: readonly PendingEvent[] = [];
    try {
      const deadline = Math.min(...group.map((one) => one.deadline));
      const run = (client: pg.ClientBase) => new Group(client, this.#clock, this.#eligibility).run(group);
      rest = await withClient(this.#pool, deadline, run);
    } catch {
      // No connection for the group: each event retries in its own transaction and gets its own error.
      for (const event of group) event.settle("alone");
    }
    for (const { record } of group) this.#running.delete(keyText(record));
    this.#waiting.unshift(...rest);
  }

  async #runSingle({ record, ended, settle }: PendingEvent): Promise<void> {
    settle("alone");
    const gone = ended.then(() => void this.#running.delete(keyText(record)));
    await withTimeout(gone, SINGLE_MS, undefined);
    // Another delivery of this event may be waiting for a slot.
    void gone.then(() => this.#startGroup());
  }

  #releaseOverdue(): void {
    this.#queueCheck = undefined;
    const longest = performance.now() - MAX_QUEUE_MS;
    const stuck = this.#waiting.filter(({ queuedAt }) => queuedAt < longest);
    if (stuck.length > 0) this.#waiting = this.#waiting.filter(({ queuedAt }) => queuedAt >= longest);
    for (const { settle } of stuck) settle("alone");
    if (this.#waiting.length > 0) this.#queueCheck = setTimeout(() => this.#releaseOverdue(), QUEUE_CHECK_MS);
  }
}
