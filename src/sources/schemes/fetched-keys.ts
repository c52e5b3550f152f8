import { setTimeout as sleep } from "node:timers/promises";
import { createWindowLimit, type Failed, failed, WindowMap } from "../../domain/index.ts";
import type { HeldBody } from "../request.ts";

/** The platform's keys cannot be had just now, so nothing can be said about a signature. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** The result of a verification whose keys cannot be had. @throws any other error */
export function keysUnavailable(error: unknown): Failed {
  if (error instanceof KeysUnavailable) return failed("keys_unavailable", error);
  throw error;
}

/** The shortest time between requests: forged signatures must not cause one each. */
export const COOLDOWN_MS = 2_000;
/** How long a failure is remembered: an address in trouble is not asked for each callback. */
const FAILURE_MS = 5_000;
const FRESH_MS = 600_000;
/** Up to here the last keys serve at once while new ones are fetched. Past it, a withdrawn key might serve. */
const AGEING_MS = 3_600_000;
/** How long they serve while the address does not respond. */
const STALE_MS = 86_400_000;

export interface FetchedOptions {
  /** The name of the keys in messages: a setting's, or the platform's. */
  readonly name: string;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** The keys that a platform publishes at one address, cached; it outlives an outage of that address. */
export class FetchedValue<T> {
  readonly #fetch: () => Promise<T>;
  readonly #name: string;
  readonly #now: () => number;
  #value: T | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #failure: { readonly at: number; readonly cause: unknown } | undefined;
  #reloading: Promise<void> | undefined;
  #renewal: Promise<void> | undefined;

  constructor(fetch: () => Promise<T>, { name, now = () => performance.now() }: FetchedOptions) {
    this.#fetch = fetch;
    this.#name = name;
    this.#now = now;
  }

  /** The last one that was fetched. */
  get latest(): T | undefined {
    return this.#value;
  }

  /** Milliseconds since it was fetched; infinite before. */
  age(): number {
    return this.#now() - this.#fetchedAt;
  }

  /** Whether it is too old, and no request for it is under way or has just failed. */
  isDue(): boolean {
    return this.age() >= FRESH_MS && !this.isBusy();
  }

  /** Whether the last one may serve while no request is made. */
  mayServe(): boolean {
    return this.age() < (this.#failure === undefined ? AGEING_MS : STALE_MS);
  }

  /** Whether another look is under way. */
  isRenewing(): boolean {
    return this.#renewal !== undefined;
  }

  /** Whether a request for it is under way or has just failed. */
  isBusy(): boolean {
    return this.#reloading !== undefined || this.#failedJustNow() !== undefined;
  }

  /**
   * The value, fetched before where it is too old.
   * @param body asked before it is held for a fetch
   * @throws KeysUnavailable when nothing that may still serve is at hand
   */
  async current(body?: HeldBody): Promise<T> {
    const old = this.age();
    if (old < FRESH_MS) return this.#value as T;
    const isDown = this.#failure !== undefined && old < STALE_MS;
    const mustWait = !isDown && old >= AGEING_MS;
    if (mustWait) assertMayWait(body, this.#name);
    const reloading = this.#reload().catch((error: unknown) => {
      // A failure is kept, and reported where a key is needed that only the address knows.
      if (old >= STALE_MS) throw error;
    });
    if (mustWait) await reloading;
    return this.#value as T;
  }

  /**
   * The value after another look, which keeps its distance from the last one.
   * @param body asked before it is held for that
   * @throws KeysUnavailable
   */
  async renewed(body?: HeldBody): Promise<T> {
    assertMayWait(body, this.#name);
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    await this.#renewal;
    return this.#value as T;
  }

  /** A key may have been published since the last look, however short ago that was. */
  async #renew(): Promise<void> {
    const early = COOLDOWN_MS - this.age();
    if (early > 0) await sleep(early);
    await this.#reload();
  }

  #failedJustNow() {
    const failure = this.#failure;
    return failure !== undefined && this.#now() - failure.at < FAILURE_MS ? failure : undefined;
  }

  /** Fetches, once for all that ask at the same time. @throws KeysUnavailable, at once where it just failed */
  async #reload(): Promise<void> {
    const failure = this.#failedJustNow();
    if (failure !== undefined) throw this.#unavailable(failure.cause);
    this.#reloading ??= this.#load().finally(() => {
      this.#reloading = undefined;
    });
    await this.#reloading;
  }

  async #load(): Promise<void> {
    try {
      this.#value = await this.#fetch();
    } catch (cause) {
      this.#failure = { at: this.#now(), cause };
      throw this.#unavailable(cause);
    }
    this.#failure = undefined;
    this.#fetchedAt = this.#now();
  }

  #unavailable(cause: unknown): KeysUnavailable {
    return new KeysUnavailable(`the keys of ${this.#name} cannot be fetched: ${String(cause)}`, { cause });
  }
}

/** Forged signatures name unknown keys at will: their bodies must not take the room of those whose key is known. */
function assertMayWait(body: HeldBody | undefined, name: string): void {
  if (body?.mayWait() !== false) return;
  throw new KeysUnavailable(`the bodies that wait for the keys of ${name} hold half of MAX_UNVERIFIED_BYTES already`);
}

/** Bounds of keys by id; the defaults are of platforms, which have few keys. */
export interface FetchedKeysOptions extends FetchedOptions {
  readonly mostKnown?: number;
  readonly mostUnknown?: number;
  /** How many requests forged ids and signatures may cause within the window; a quarter of them for one remote address. */
  readonly mostFetches?: number;
  readonly windowMs?: number;
}

/** One address may use a quarter: a sender's made-up ids must leave room for a platform's new key. */
const SHARE = 1 / 4;

/**
 * How many requests for made-up ids may be sent in a window: by all, and by each remote address.
 * @param name of the keys, such as `Google's keys` @returns why one more may not; undefined where it may, and is counted
 */
function createFetchBudget(name: string, most: number, windowMs: number) {
  const ofOne = Math.ceil(most * SHARE);
  const mayFetch = createWindowLimit(most, windowMs);
  /** Each has cost a request, so that there are no more of them than requests. */
  const counts = new WindowMap<{ readonly resetAt: Date; readonly used: number }>(most);
  const within = `of ${name} were asked for within ${windowMs / 1_000} s`;
  return (address: string, now: Date): string | undefined => {
    const { used, resetAt } = counts.get(address, windowMs, now) ?? {
      used: 0,
      resetAt: new Date(now.getTime() + windowMs),
    };
    if (used >= ofOne) return `more than ${ofOne} unknown keys ${within} from one address`;
    if (!mayFetch(now)) return `more than ${most} unknown keys ${within}`;
    counts.set(address, { used: used + 1, resetAt });
    return undefined;
  };
}

/** Addresses that have sent an authentic callback: as many as tenants, the one used last at the end. */
const MAX_PROVEN = 10_000;

/** How long an id without a key is not asked for again. */
const ABSENT_MS = 60_000;
const MAX_KNOWN = 64;
const MAX_UNKNOWN = 256;
/** Ids without a known key cause at most so many requests in so much time, however many are forged. */
const UNKNOWN_FETCHES = 10;
const UNKNOWN_WINDOW_MS = 10_000;

/**
 * Keys that a platform hands out one by one: by id through its API, or a certificate by its URL. Those that exist and
 * those that do not are bounded apart, so that forged ids evict no known key.
 */
export class FetchedKeys<T extends object> {
  readonly #fetch: (id: string) => Promise<T | undefined>;
  readonly #options: Required<Omit<FetchedKeysOptions, "mostFetches" | "windowMs">>;
  readonly #known = new Map<string, FetchedValue<T | undefined>>();
  readonly #unknown = new Map<string, FetchedValue<T | undefined>>();
  readonly #excess: ReturnType<typeof createFetchBudget>;
  readonly #excessOfProven: ReturnType<typeof createFetchBudget>;
  readonly #proven = new Map<string, true>();

  /** @param fetch undefined for an id that the platform says does not exist; an error where nothing can be said */
  constructor(fetch: (id: string) => Promise<T | undefined>, options: FetchedKeysOptions) {
    const { mostKnown = MAX_KNOWN, mostUnknown = MAX_UNKNOWN } = options;
    const { mostFetches = UNKNOWN_FETCHES, windowMs = UNKNOWN_WINDOW_MS } = options;
    this.#fetch = fetch;
    this.#options = { now: () => performance.now(), ...options, mostKnown, mostUnknown };
    this.#excess = createFetchBudget(options.name, mostFetches, windowMs);
    this.#excessOfProven = createFetchBudget(options.name, mostFetches, windowMs);
  }

  /**
   * The key of an id; undefined where the platform has none.
   * @param body asked before it is held for a fetch; its remote address has a budget of its own
   * @throws KeysUnavailable when it cannot be fetched, or too many unknown ids were asked for
   */
  async get(id: string, body?: HeldBody): Promise<T | undefined> {
    const known = this.#known.get(id);
    if (known?.isDue()) {
      const excess = this.#spend(body);
      if (excess !== undefined && known.mayServe()) return known.latest;
      if (excess !== undefined) throw new KeysUnavailable(excess);
    }
    const entry = known ?? this.#unknownEntry(id, body);
    return this.#kept(id, entry, await entry.current(body));
  }

  /** Forgers at other addresses do not use up what this one may ask for: it has sent an authentic callback. */
  trust(body: HeldBody | undefined): void {
    if (body?.address !== undefined) keep(this.#proven, body.address, true, MAX_PROVEN);
  }

  /**
   * The key of an id after another look, which keeps its distance from the last one.
   * @throws KeysUnavailable
   */
  async renewed(id: string, body?: HeldBody): Promise<T | undefined> {
    const entry = this.#known.get(id);
    if (entry === undefined) return this.get(id, body);
    // Those that wait for one look cost one.
    const excess = entry.isRenewing() || entry.isBusy() ? undefined : this.#spend(body);
    if (excess !== undefined) throw new KeysUnavailable(excess);
    return this.#kept(id, entry, await entry.renewed(body));
  }

  /** @returns why no more may be asked for */
  #spend(body: HeldBody | undefined): string | undefined {
    const address = body?.address ?? "";
    const excess = this.#proven.has(address) ? this.#excessOfProven : this.#excess;
    return excess(address, new Date(this.#options.now()));
  }

  #kept(id: string, entry: FetchedValue<T | undefined>, value: T | undefined): T | undefined {
    const { mostKnown, mostUnknown } = this.#options;
    const [mine, other] = value === undefined ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    other.delete(id);
    keep(mine, id, entry, value === undefined ? mostUnknown : mostKnown);
    return value;
  }

  #unknownEntry(id: string, body: HeldBody | undefined): FetchedValue<T | undefined> {
    const entry = this.#unknown.get(id);
    if (entry !== undefined && (entry.isBusy() || entry.age() < ABSENT_MS)) return entry;
    const excess = this.#spend(body);
    if (excess !== undefined) throw new KeysUnavailable(excess);
    const fresh = new FetchedValue(() => this.#fetch(id), this.#options);
    keep(this.#unknown, id, fresh, this.#options.mostUnknown);
    return fresh;
  }
}

/** The one that was used last stands last; the first makes room. */
export function keep<T>(entries: Map<string, T>, id: string, entry: T, most: number): void {
  entries.delete(id);
  const [oldest] = entries.size >= most ? entries.keys() : [];
  if (oldest !== undefined) entries.delete(oldest);
  entries.set(id, entry);
}
