/** The bytes of one body, from its first one until it is known whether they are authentic. */
export interface UnverifiedBody {
  /** Counts bytes that are about to be held; false where there is no room for them. */
  hold(bytes: number): boolean;
  /** It has arrived whole, and is not ended for others any more. */
  complete(): void;
  /** It is verified, or was dropped: its bytes count no more. May be called again. */
  release(): void;
}

/** One bound for the bytes of all bodies that are not verified yet. */
export interface UnverifiedBodies {
  /** @param address what limits count (`rateKey`) @param end drops the body, when its room is needed for others */
  begin(address: string, end: () => void): UnverifiedBody;
  /** Ends the oldest unfinished body, of this address or of any; false where there is none. */
  endOldest(address?: string): boolean;
  readonly bytes: number;
}

/** One address may hold so much of the bound while others need room; a body of the largest size always fits. */
const SHARE = 1 / 4;

interface HeldBody {
  readonly group: AddressGroup;
  readonly end: () => void;
  bytes: number;
}

interface AddressGroup {
  readonly address: string;
  bytes: number;
  readonly unfinished: Set<HeldBody>;
  /** Bodies of any state. */
  count: number;
}

/**
 * Where the bytes do not fit, an unfinished body makes room: the oldest of an address with more than its share, else the oldest
 * of all. An authentic callback arrives within moments, so that it is rarely the oldest. A stranger fills the bound only with
 * bodies that never end, and those are the first to go. A body in one piece needs no luck at all.
 */
export function createUnverifiedBodies(maxBytes: number, longestBody: number): UnverifiedBodies {
  const share = Math.max(maxBytes * SHARE, longestBody);
  const groups = new Map<string, AddressGroup>();
  const aboveShare = new Set<AddressGroup>();
  const unfinished = new Set<HeldBody>();
  let total = 0;

  function count(held: HeldBody, bytes: number): void {
    held.bytes += bytes;
    held.group.bytes += bytes;
    total += bytes;
    if (held.group.bytes > share) aboveShare.add(held.group);
    else aboveShare.delete(held.group);
  }

  function finish(held: HeldBody): void {
    unfinished.delete(held);
    held.group.unfinished.delete(held);
  }

  function oldest(): HeldBody | undefined {
    for (const group of aboveShare) {
      const [held] = group.unfinished;
      if (held !== undefined) return held;
    }
    const [held] = unfinished;
    return held;
  }

  function open(address: string): AddressGroup {
    let group = groups.get(address);
    if (group === undefined) {
      group = { address, bytes: 0, unfinished: new Set(), count: 0 };
      groups.set(address, group);
    }
    return group;
  }

  return {
    get bytes() {
      return total;
    },
    begin(address, end) {
      const group = open(address);
      group.count += 1;
      const held: HeldBody = { group, end, bytes: 0 };
      let isReleased = false;
      group.unfinished.add(held);
      unfinished.add(held);
      return {
        hold(bytes) {
          while (total + bytes > maxBytes) {
            const victim = oldest();
            if (victim === undefined || victim === held) return false;
            victim.end();
          }
          count(held, bytes);
          return true;
        },
        complete: () => finish(held),
        release() {
          if (isReleased) return;
          isReleased = true;
          finish(held);
          count(held, -held.bytes);
          group.count -= 1;
          if (group.count === 0) groups.delete(address);
        },
      };
    },
    endOldest(address) {
      const [held] = address === undefined ? unfinished : (groups.get(address)?.unfinished ?? []);
      held?.end();
      return held !== undefined;
    },
  };
}
