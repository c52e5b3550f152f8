import type pg from "pg";
import { type Clock, compareKeys } from "../../../domain/index.ts";
import { BriefMap, withTimeout } from "../../../system/index.ts";
import type { PendingEvent } from "../../once.ts";
import { withClient } from "../wire/pool.ts";
import { mustBeReplaced } from "../wire/statement.ts";
import { FunctionCheck } from "./function-check.ts";
import { GroupEligibility } from "./group-eligibility.ts";
import { QueuedEvent, type RunInOwnTransaction } from "./group-member.ts";
import { type GroupResult, OptimisticGroup } from "./optimistic-group.ts";
import { SequentialGroup } from "./sequential-group.ts";

const MAX_GROUP_SIZE = 32;
/** An event with less time left runs in its own transaction, under limits from its deadline. */
const MIN_REMAINING_MS = 3_000;
/** After this time in the queue all group connections are blocked, and the event runs in its own transaction. */
const MAX_QUEUE_MS = 500;
const QUEUE_CHECK_MS = 100;
/** A transaction of one event occupies a group slot no longer than this; it continues outside the slot. */
const SINGLE_MS = 20;
/** After more rollbacks than these, caused by other members, an event runs in a sequential group. */
const MAX_ROLLBACKS = 2;

function hasTime({ deadline }: PendingEvent): boolean {
  return deadline - performance.now() > MIN_REMAINING_MS;
}

/**
 * Group commit: events that wait at the same time share a transaction, because round trips cost more than statements. A
 * few connections each take the waiting events as one group. No event waits for a group to fill.
 */
export class GroupScheduler {
  readonly #pool: pg.Pool | undefined;
  readonly #clock: Clock;
  readonly #runInOwnTransaction: RunInOwnTransaction;
  readonly #eligibility = new GroupEligibility();
  readonly #functions = new FunctionCheck();
  /** Names of the events in running groups: another delivery of one waits here instead of for its row lock. */
  readonly #running = new BriefMap<string, true>();
  #waiting: QueuedEvent[] = [];
  #activeGroups = 0;
  #queueCheck: NodeJS.Timeout | undefined;

  /** @param pool one connection per concurrent group; without it every event runs in its own transaction */
  constructor(pool: pg.Pool | undefined, clock: Clock, runInOwnTransaction: RunInOwnTransaction) {
    this.#pool = pool;
    this.#clock = clock;
    this.#runInOwnTransaction = runInOwnTransaction;
  }

  submit(event: PendingEvent): void {
    const queued = new QueuedEvent(event, this.#runInOwnTransaction);
    const isAlone = event.locksRows === true || this.#eligibility.needsOwnTransaction(queued.type, queued.typeOfSource);
    if (this.#pool === undefined || !hasTime(queued) || isAlone) return queued.runInOwnTransaction();
    this.#waiting.push(queued);
    this.#queueCheck ??= setTimeout(() => this.#releaseOverdue(), QUEUE_CHECK_MS);
    this.#startGroups();
  }

  #startGroups(): void {
    const { max } = this.#pool?.options ?? { max: 0 };
    if (this.#activeGroups < max && this.#waiting.length > 0) void this.#runGroups();
  }

  async #runGroups(): Promise<void> {
    this.#activeGroups += 1;
    // An event submitted by the end of this microtask is in the group: so are those of one look-up.
    await undefined;
    for (let group = this.#takeGroup(); group.length > 0; group = this.#takeGroup()) await this.#runGroup(group);
    this.#activeGroups -= 1;
  }

  /** Takes waiting events of one kind in order of arrival, except events that a running group holds. */
  #takeGroup(): QueuedEvent[] {
    const group: QueuedEvent[] = [];
    const left: QueuedEvent[] = [];
    let isSequential: boolean | undefined;
    for (const event of this.#waiting) {
      const needsSequence = event.mustBeSequential || this.#eligibility.mustBeSequential(event.type);
      const fits = group.length < MAX_GROUP_SIZE && (isSequential ?? needsSequence) === needsSequence;
      if (!fits || this.#running.has(event.name)) {
        left.push(event);
        continue;
      }
      isSequential = needsSequence;
      event.mustBeSequential = needsSequence;
      this.#running.set(event.name, true);
      group.push(event);
    }
    this.#waiting = left;
    // Else two groups that insert the same records could deadlock.
    return group.toSorted((one, other) => compareKeys(one.record, other.record));
  }

  async #runGroup(group: readonly QueuedEvent[]): Promise<void> {
    const [first, second] = group;
    const pool = this.#pool;
    if (first === undefined || pool === undefined) return;
    if (second === undefined) return this.#runSingle(first);
    let again: readonly QueuedEvent[] = [];
    try {
      const deadline = Math.min(...group.map((event) => event.deadline));
      again = await withClient(pool, deadline, (client) => this.#runOn(client, group));
    } catch {
      // No connection for the group: each event retries in its own transaction and gets its own error.
      for (const event of group) event.runInOwnTransaction();
    }
    for (const { name } of group) this.#running.delete(name);
    const rejoining = again.filter((event) => {
      const rejoins = hasTime(event);
      if (!rejoins) event.runInOwnTransaction();
      return rejoins;
    });
    this.#waiting.unshift(...rejoining);
  }

  /** In its own transaction a handler runs once, whatever it does. */
  async #runSingle(event: QueuedEvent): Promise<void> {
    event.runInOwnTransaction();
    const ended = event.ended.then(() => void this.#running.delete(event.name));
    await withTimeout(ended, SINGLE_MS, undefined);
    // Another delivery of this event may be waiting for a slot.
    void ended.then(() => this.#startGroups());
  }

  /** @returns the events that join a later group */
  async #runOn(client: pg.ClientBase, group: readonly QueuedEvent[]): Promise<readonly QueuedEvent[]> {
    const isOptimistic = !group[0]?.mustBeSequential && (await this.#functions.allowsOptimistic(client));
    if (!isOptimistic) return new SequentialGroup(client, this.#clock, this.#eligibility).run(group);
    const result = await new OptimisticGroup(client, this.#clock, this.#functions, group).run();
    const again = this.#concluded(group, result);
    if (!mustBeReplaced(client)) return again;
    // A server that did not answer may still be at it, with locks for which a group does not wait.
    for (const event of again) event.runInOwnTransaction();
    return [];
  }

  #concluded(group: readonly QueuedEvent[], result: GroupResult): readonly QueuedEvent[] {
    if (result.kind === "unknown") for (const event of group) event.fail(result.error);
    if (result.kind === "committed") for (const { typeOfSource } of group) this.#eligibility.markInTime(typeOfSource);
    if (result.kind !== "unfit") return [];
    return group.filter((event) => {
      const reason = result.reasons.get(event);
      event.rollbacks += 1;
      // If the culprit is unknown, each gets a savepoint.
      if (reason === "failed" || result.reasons.size === 0 || event.rollbacks > MAX_ROLLBACKS)
        event.mustBeSequential = true;
      if (reason === "dependent") this.#eligibility.markDependent(event.type);
      if (reason === "unsupported") this.#eligibility.markUnsupported(event.type);
      if (reason === "late") this.#eligibility.markLate(event.typeOfSource);
      const leavesGroups = reason === "unsupported" || reason === "late";
      if (leavesGroups) event.runInOwnTransaction();
      return !leavesGroups;
    });
  }

  #releaseOverdue(): void {
    this.#queueCheck = undefined;
    const longest = performance.now() - MAX_QUEUE_MS;
    const stuck = this.#waiting.filter(({ queuedAt }) => queuedAt < longest);
    if (stuck.length > 0) this.#waiting = this.#waiting.filter(({ queuedAt }) => queuedAt >= longest);
    for (const event of stuck) event.runInOwnTransaction();
    if (this.#waiting.length > 0) this.#queueCheck = setTimeout(() => this.#releaseOverdue(), QUEUE_CHECK_MS);
  }
}
