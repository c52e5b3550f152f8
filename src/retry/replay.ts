import { randomUUID } from "node:crypto";
import type { EventKey, Outcome } from "../domain/index.ts";
import type { Receiver } from "../receive/index.ts";
import { leaseTimes, type RetryTiming } from "./lease-times.ts";
import { runFailure, runStored } from "./run-failure.ts";

export type ReplayEnding =
  /** There is no failure under this key. */
  | "absent"
  /** The retry loop, or another operator, is running it right now. */
  | "leased"
  | Outcome;

/** Runs a failure now, on an operator's word, whatever its schedule says. */
export async function replay(key: EventKey, timing: RetryTiming, receiver: Receiver): Promise<ReplayEnding> {
  const owner = randomUUID();
  const failure = await receiver.store.failures.leaseOne(key, {
    owner,
    ...leaseTimes(receiver.clock, timing),
  });
  if (typeof failure === "string") return failure;
  return runFailure({ failure, owner, kind: "replay", timeLimitMs: timing.timeLimitMs }, receiver);
}

/** Removes a failure on an operator's word, unless it is being run: its effect could still happen. */
export async function discard(
  key: EventKey,
  timing: RetryTiming,
  { store, clock }: Receiver,
): Promise<"discarded" | "absent" | "leased"> {
  const failure = await store.failures.leaseOne(key, { owner: randomUUID(), ...leaseTimes(clock, timing) });
  if (typeof failure === "string") return failure;
  await store.failures.remove(key);
  return "discarded";
}

/** Runs a failure's handler in a transaction that is rolled back; nothing changes, not even the failure. */
export async function rehearse(
  key: EventKey,
  timing: RetryTiming,
  receiver: Receiver,
): Promise<ReplayEnding> {
  const failure = await receiver.store.failures.get(key);
  if (failure === undefined) return "absent";
  return runStored(failure, "replay", "rehearse", timing.timeLimitMs, receiver);
}
