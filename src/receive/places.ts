import { type Failed, failed } from "../domain/index.ts";

/** Bounds how many callbacks are at work, or wait for the store, at a time. */
export interface Places {
  readonly taken: number;
  /** Why nobody is let in now; undefined while there is a place. */
  refusal(): Failed | undefined;
  /** Runs the rest of a callback that is authentic, or says at once that there is no place for it. */
  take<Ending>(run: () => Promise<Ending>): Promise<Ending | { readonly outcome: Failed }>;
}

/**
 * Whoever waits longer than his platform does is handled in vain, and keeps the others waiting. So past a bound the
 * answer is given at once: how long an accepted one takes, and how much memory they all need, stays as it is however
 * many come.
 */
export function createPlaces(most: number): Places {
  const full = failed(
    "overloaded",
    `${most} callbacks are at work or wait for the database (MAX_WAITING_CALLBACKS)`,
  );
  let taken = 0;
  const refusal = () => (taken < most ? undefined : full);
  return {
    get taken() {
      return taken;
    },
    refusal,
    async take(run) {
      const outcome = refusal();
      if (outcome !== undefined) return { outcome };
      taken += 1;
      try {
        return await run();
      } finally {
        taken -= 1;
      }
    },
  };
}
