import { getOrMake } from "../domain/index.ts";
import { BriefMap, LinkedList, type ListEntry } from "../system/index.ts";

/** One address may hold this share of the bound while others need room. A body of the largest size always fits. */
const SHARE = 1 / 4;
/** Complete bodies that wait for another server's keys hold no more: the rest is for those with a known key. */
const WAITING_SHARE = 1 / 2;

interface AddressGroup {
  readonly address: string;
  bytes: number;
  readonly unfinished: LinkedList<UnverifiedBody>;
  /** Bodies of any state. */
  count: number;
}

/**
 * One bound for the bytes of all bodies that are not verified yet. If the bytes do not fit, an unfinished body makes
 * room. It is the oldest of an address with more than its share, else the oldest of all. An authentic callback arrives
 * within moments, so that it is rarely the oldest. A client fills the bound only with bodies that never end, and those
 * are the first to go. A body that arrives in one piece needs no reservation.
 */
export class UnverifiedBodies {
  readonly #maxBytes: number;
  readonly #share: number;
  readonly #groups = new BriefMap<string, AddressGroup>();
  readonly #aboveShare = new Set<AddressGroup>();
  readonly #unfinished = new LinkedList<UnverifiedBody>();
  readonly #timeLimitMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #allGone: PromiseWithResolvers<void> | undefined;
  #bytes = 0;
  #waitingBytes = 0;

  /** @param timeLimitMs of the arrival of a body, for a server that has none of its own */
  constructor(maxBytes: number, maxBodyBytes: number, timeLimitMs?: number) {
    this.#maxBytes = maxBytes;
    this.#share = Math.max(maxBytes * SHARE, maxBodyBytes);
    this.#timeLimitMs = timeLimitMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @param address what limits count (`rateKey`) @param end drops the body */
  begin(address: string, end: (reason: EndReason) => void): UnverifiedBody {
    const make = () => ({ address, bytes: 0, unfinished: new LinkedList<UnverifiedBody>(), count: 0 });
    const group = getOrMake(this.#groups, address, make);
    group.count += 1;
    const body = new UnverifiedBody(this, group, end, this.#unfinished);
    if (this.#timeLimitMs !== undefined) this.#timer ??= this.#endLateIn(this.#timeLimitMs);
    return body;
  }

  /** One timer for all: the first of the unfinished bodies is the oldest one. */
  #endLateIn(ms: number): NodeJS.Timeout {
    const endLate = () => {
      this.#timer = undefined;
      const limit = this.#timeLimitMs ?? 0;
      for (let oldest = this.#unfinished.first; oldest !== undefined; oldest = this.#unfinished.first) {
        const left = oldest.startedAt + limit - performance.now();
        if (left > 0) {
          this.#timer = this.#endLateIn(left);
          return;
        }
        oldest.end("late");
      }
    };
    return setTimeout(endLate, Math.ceil(ms)).unref();
  }

  /** Resolves once every body is verified, or dropped. */
  async allGone(): Promise<void> {
    if (this.#groups.size === 0) return;
    this.#allGone ??= Promise.withResolvers();
    await this.#allGone.promise;
  }

  /** Ends the oldest unfinished body, of this address or of any; false where there is none. */
  endOldest(address?: string): boolean {
    const list = address === undefined ? this.#unfinished : this.#groups.get(address)?.unfinished;
    const oldest = list?.first;
    oldest?.end("evicted");
    return oldest !== undefined;
  }

  reserve(body: UnverifiedBody, bytes: number): boolean {
    while (this.#bytes + bytes > this.#maxBytes) {
      const victim = this.#oldest();
      if (victim === undefined || victim === body) return false;
      victim.end("evicted");
    }
    this.#count(body.group, bytes);
    return true;
  }

  /** Counts a body among those that wait for keys; false where these hold their share. A single one always may. */
  startWaiting({ bytes }: UnverifiedBody): boolean {
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxBytes * WAITING_SHARE) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  release({ group, bytes, isWaiting }: UnverifiedBody): void {
    if (isWaiting) this.#waitingBytes -= bytes;
    this.#count(group, -bytes);
    group.count -= 1;
    if (group.count > 0) return;
    this.#groups.delete(group.address);
    if (this.#groups.size > 0) return;
    this.#allGone?.resolve();
    this.#allGone = undefined;
  }

  #count(group: AddressGroup, bytes: number): void {
    group.bytes += bytes;
    this.#bytes += bytes;
    if (group.bytes > this.#share) this.#aboveShare.add(group);
    else if (this.#aboveShare.size > 0) this.#aboveShare.delete(group);
  }

  #oldest(): UnverifiedBody | undefined {
    for (const { unfinished } of this.#aboveShare) {
      if (unfinished.first !== undefined) return unfinished.first;
    }
    return this.#unfinished.first;
  }
}

/** Its room is needed for others, or it has not arrived in time. */
export type EndReason = "evicted" | "late";

/** The bytes of one body, from its first one until it is known whether they are authentic. */
export class UnverifiedBody {
  readonly group: AddressGroup;
  readonly end: (reason: EndReason) => void;
  /** On the scale of `performance.now()`. */
  readonly startedAt = performance.now();
  bytes = 0;
  isWaiting = false;
  readonly #bodies: UnverifiedBodies;
  readonly #unfinished: LinkedList<UnverifiedBody>;
  readonly #entry: ListEntry<UnverifiedBody>;
  readonly #entryOfGroup: ListEntry<UnverifiedBody>;
  #isReleased = false;

  constructor(
    bodies: UnverifiedBodies,
    group: AddressGroup,
    end: UnverifiedBody["end"],
    unfinished: LinkedList<UnverifiedBody>,
  ) {
    this.group = group;
    this.end = end;
    this.#bodies = bodies;
    this.#unfinished = unfinished;
    this.#entry = unfinished.add(this);
    this.#entryOfGroup = group.unfinished.add(this);
  }

  get address(): string {
    return this.group.address;
  }

  /** Reserves room for bytes that are about to be kept; false where there is no room for them. */
  reserve(bytes: number): boolean {
    const hasRoom = this.#bodies.reserve(this, bytes);
    if (hasRoom) this.bytes += bytes;
    return hasRoom;
  }

  /** It has arrived whole, and is not ended for others any more. */
  complete(): void {
    this.#unfinished.remove(this.#entry);
    this.group.unfinished.remove(this.#entryOfGroup);
  }

  /** Whether it may be held while keys are fetched; may be asked again. */
  mayWait(): boolean {
    this.isWaiting ||= !this.#isReleased && this.#bodies.startWaiting(this);
    return this.isWaiting;
  }

  /** It is verified, or was dropped: its bytes count no more. May be called again. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.complete();
    this.#bodies.release(this);
  }
}
