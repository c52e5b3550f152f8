import type { AttemptOutcome, EventKey } from "../domain/index.ts";
import { DryRun, type Receiver } from "../pipeline/index.ts";
import { newLease, recoverInterrupted, runFailure, runStored } from "./run-failure.ts";

export type ReplayResult =
  /** There is no failure under this key. */
  | "absent"
  /** The retry loop, or another operator, is running it right now. */
  | "leased"
  | AttemptOutcome;

/**
 * Runs a failure now for an operator, whatever its schedule says.
 * @param bulkReplayId set where it is part of a bulk replay
 */
export async function replay(key: EventKey, receiver: Receiver, bulkReplayId?: number): Promise<ReplayResult> {
  const { failures, failureLeases } = receiver.store;
  let stored = await failures.get(key);
  if (stored?.leasedUntil != null) {
    // Perhaps by a process that has ended.
    await recoverInterrupted(receiver);
    stored = await failures.get(key);
  }
  if (stored === undefined) return "absent";
  const isAlone = stored.crashes > 0;
  const run = async (): Promise<ReplayResult> => {
    const kind = bulkReplayId === undefined ? "replay" : "bulk";
    const lease = { ...newLease(receiver), kind, isAlone, bulkReplayId } as const;
    const failure = await failureLeases.leaseOne(key, lease);
    if (typeof failure === "string") return failure;
    return runFailure({ failure, owner: lease.owner, kind: "replay", bulkReplayId }, receiver);
  };
  return isAlone ? receiver.runLock.exclusive(run) : receiver.runLock.shared(run);
}

/** Removes a failure for an operator, unless it is being run: its effect could still happen. */
export async function discard(key: EventKey, receiver: Receiver): Promise<"discarded" | "absent" | "leased"> {
  const { failures, failureLeases } = receiver.store;
  await recoverInterrupted(receiver);
  const failure = await failureLeases.leaseOne(key, { ...newLease(receiver), kind: "removal" });
  if (typeof failure === "string") return failure;
  await failures.remove(key);
  return "discarded";
}

/** How a dry run ended, and what it did until then. */
export interface DryRunResult {
  readonly outcome: AttemptOutcome;
  readonly dryRun: DryRun;
}

/** Runs a failure's handler in a transaction that is rolled back; nothing changes, not even the failure. */
export async function dryRunReplay(key: EventKey, receiver: Receiver): Promise<DryRunResult | "absent"> {
  const failure = await receiver.store.failures.get(key);
  if (failure === undefined) return "absent";
  const dryRun = new DryRun();
  const how = { kind: "replay", mode: "dry-run", dryRun } as const;
  const run = async () => ({ outcome: await runStored(failure, how, receiver), dryRun });
  const { runLock } = receiver;
  return failure.crashes > 0 ? runLock.exclusive(run) : runLock.shared(run);
}
