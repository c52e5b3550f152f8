import { createHash } from "node:crypto";
import type { Clock } from "../../domain/index.ts";

/** How many different wrong tokens one address may send in a minute. */
const MOST_WRONG = 10;
const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Wrong tokens, by the address that they came from. */
export interface Tries {
  /** Seconds until the address may try again; 0 where it may now. */
  waitOf(address: string): number;
  /** Counts a wrong token. @returns false for one that has been counted already */
  wrong(address: string, token: string): boolean;
}

interface Window {
  readonly endsAt: number;
  readonly digests: Set<string>;
}

/**
 * The same wrong token counts once: a script with a token of yesterday, which comes again and again, must not keep everybody at
 * its address out, and whoever guesses never sends one twice.
 */
export function createTries(clock: Clock): Tries {
  const windows = new Map<string, Window>();
  const current = (address: string, now: number): Window | undefined => {
    const window = windows.get(address);
    // A clock that was set back ends it too: it would last for hours otherwise.
    if (window === undefined || (now < window.endsAt && now >= window.endsAt - WINDOW_MS)) return window;
    windows.delete(address);
    return undefined;
  };
  return {
    waitOf(address) {
      const now = clock.now().getTime();
      const window = current(address, now);
      if (window === undefined || window.digests.size < MOST_WRONG) return 0;
      return Math.ceil((window.endsAt - now) / 1000);
    },
    wrong(address, token) {
      const now = clock.now().getTime();
      let window = current(address, now);
      if (window === undefined) {
        const [oldest] = windows.keys();
        if (windows.size >= MOST_ADDRESSES && oldest !== undefined) windows.delete(oldest);
        window = { endsAt: now + WINDOW_MS, digests: new Set() };
        windows.set(address, window);
      }
      const digest = createHash("sha256").update(token).digest("base64");
      if (window.digests.has(digest)) return false;
      window.digests.add(digest);
      return true;
    },
  };
}
