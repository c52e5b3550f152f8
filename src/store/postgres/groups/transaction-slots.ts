import type pg from "pg";
import { KeyedSemaphore } from "../../../system/index.ts";
import type { Deadline } from "../../retry-until.ts";
import { StoreError } from "../../store-errors.ts";

/** Runs a transaction of one event once a connection is its own. */
export type RunInSlot = <T>(source: string, deadline: Deadline, run: () => Promise<T>) => Promise<T>;

/**
 * A handler may hold its connection for as long as its time limit. So one connection stays for look-ups and leases. Another one
 * stays for the events of other sources and tenants, which alternate.
 */
export function createTransactionSlots({ options: { max } }: pg.Pool): RunInSlot {
  const semaphore = new KeyedSemaphore();
  return async (source, deadline, run) => {
    const releaseSource = await semaphore.acquire(source, Math.max(1, max - 2), deadline);
    const release = await semaphore.acquire(semaphore, Math.max(1, max - 1), deadline, source);
    try {
      if (releaseSource !== undefined && release !== undefined) return await run();
      throw new StoreError("unavailable", "handlers held the connections until the deadline", undefined);
    } finally {
      release?.();
      releaseSource?.();
    }
  };
}
