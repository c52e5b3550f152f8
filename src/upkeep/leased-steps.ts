import { randomUUID } from "node:crypto";
import type { Clock } from "../domain/index.ts";
import type { Lease } from "../store/index.ts";

const LEASE_MS = 120_000;

interface LeasedSteps {
  readonly leases: {
    lease(lease: Lease, longestMs: number): Promise<boolean>;
    /** @returns false where another owner has it */
    setLeaseEnd(owner: string, until: Date): Promise<boolean>;
  };
  readonly clock: Clock;
  readonly isStopping: () => boolean;
}

/**
 * Work that one process does at a time.
 * @param step gets its time, and resolves with whether there is more to do
 */
export async function inLeasedSteps(
  { leases, clock, isStopping }: LeasedSteps,
  step: (now: Date) => Promise<boolean>,
): Promise<void> {
  const owner = randomUUID();
  const leased = () => ({ owner, now: clock.now(), until: new Date(clock.now().getTime() + LEASE_MS) });
  if (!(await leases.lease(leased(), LEASE_MS))) return;
  try {
    while (!isStopping()) {
      const { now, until } = leased();
      if (!(await leases.setLeaseEnd(owner, until)) || !(await step(now))) break;
    }
  } finally {
    await leases.setLeaseEnd(owner, clock.now());
  }
}
