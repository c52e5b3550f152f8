import { afterAll, beforeAll } from "vitest";

/** Awaits `untilTestsEnd` once everything is ready, and closes it after that. */
export type Open = (untilTestsEnd: () => Promise<void>) => Promise<void>;

/** What is open between `begin` and `end`, each of which waits for it. */
export function heldOpen(open: Open): { begin(): Promise<void>; end(): Promise<void> } {
  const over = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;
  return {
    async begin() {
      const ready = Promise.withResolvers<void>();
      ended = open(() => {
        ready.resolve();
        return over.promise;
      });
      await Promise.race([ready.promise, ended]);
    },
    async end() {
      over.resolve();
      await ended;
    },
  };
}

/** Opens something once for all tests of the file or `describe` around it. */
export function openForAllTests(open: Open): void {
  const held = heldOpen(open);
  beforeAll(held.begin);
  afterAll(held.end);
}
