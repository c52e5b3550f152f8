import { fixedRetries, type RetryPolicy, retryDelayMs } from "../../src/domain/index.ts";
import type { RecoveryOptions } from "../../src/store/areas/failure-leases.ts";

/** How the attempts of ended processes are settled where all events have one policy: that of SPEC 8 when left out. */
export function recoveryAt(now: Date, leaseMs: number, policy: RetryPolicy = fixedRetries(3, 60)): RecoveryOptions {
  const longestDelayMs = retryDelayMs(policy, policy.max, 1);
  return { now, leaseMs, longestDelayMs, policyOf: () => policy, chance: () => 0 };
}
