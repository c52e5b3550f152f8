import { setTimeout as sleep } from "node:timers/promises";
import { boundedFetch } from "../../http-client/index.ts";
import { createFetchBudget } from "./fetch-budget.ts";
import type { HeldBody } from "./scheme.ts";

/** The platform's keys cannot be had just now, so nothing can be said about a signature. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** The shortest time between requests: forged signatures must not cause one each. */
export const COOLDOWN_MS = 2_000;
/** How long a failure is remembered: an address in trouble is not asked for each callback. */
const FAILURE_MS = 5_000;
const FRESH_MS = 600_000;
/** Up to here the last keys serve at once while new ones are fetched; past it, a key that was withdrawn might. */
const AGEING_MS = 3_600_000;
/** How long they serve while the address does not respond. */
const STALE_MS = 86_400_000;
const TIMEOUT_MS = 3_000;

export interface FetchedOptions {
  /** What messages call the place of the keys: a setting's name, or the platform's. */
  readonly name: string;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** What a platform publishes at one address, cached; it outlives an outage of that address. */
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
  throw new KeysUnavailable(
    `the bodies that wait for the keys of ${name} hold half of MAX_UNVERIFIED_BYTES already`,
  );
}

/** Bounds of keys by id; the defaults are of platforms, which have few keys. */
export interface FetchedKeysOptions extends FetchedOptions {
  readonly mostKnown?: number;
  readonly mostUnknown?: number;
  /** How many ids without a known key are asked for within the window; a quarter of them for one remote address. */
  readonly mostFetches?: number;
  readonly windowMs?: number;
}

/** How long an id without a key is not asked for again. */
const ABSENT_MS = 60_000;
const MAX_KNOWN = 64;
const MAX_UNKNOWN = 256;
/** Ids without a known key cause at most so many requests in so much time, however many are forged. */
const UNKNOWN_FETCHES = 10;
const UNKNOWN_WINDOW_MS = 10_000;

/**
 * Keys that a platform hands out one by one: by an id through its API, or a certificate by its URL. Those that exist and
 * those that do not are bounded apart, so that forged ids do not push a known key out.
 */
export class FetchedKeys<T extends object> {
  readonly #fetch: (id: string) => Promise<T | undefined>;
  readonly #options: Required<Omit<FetchedKeysOptions, "mostFetches" | "windowMs">>;
  readonly #known = new Map<string, FetchedValue<T | undefined>>();
  readonly #unknown = new Map<string, FetchedValue<T | undefined>>();
  readonly #excess: ReturnType<typeof createFetchBudget>;

  /** @param fetch undefined for an id that the platform says does not exist; an error where nothing can be said */
  constructor(fetch: (id: string) => Promise<T | undefined>, options: FetchedKeysOptions) {
    const { mostKnown = MAX_KNOWN, mostUnknown = MAX_UNKNOWN } = options;
    const { mostFetches = UNKNOWN_FETCHES, windowMs = UNKNOWN_WINDOW_MS } = options;
    this.#fetch = fetch;
    this.#options = { now: () => performance.now(), ...options, mostKnown, mostUnknown };
    this.#excess = createFetchBudget(options.name, mostFetches, windowMs);
  }

  /**
   * The key of an id; undefined where the platform has none.
   * @param body asked before it is held for a fetch; its remote address has a budget of its own
   * @throws KeysUnavailable when it cannot be fetched, or too many unknown ids were asked for
   */
  async get(id: string, body?: HeldBody): Promise<T | undefined> {
    const entry = this.#known.get(id) ?? this.#unknownEntry(id, body);
    return this.#kept(id, entry, await entry.current(body));
  }

  /**
   * The key of an id after another look, which keeps its distance from the last one.
   * @throws KeysUnavailable
   */
  async renewed(id: string, body?: HeldBody): Promise<T | undefined> {
    const entry = this.#known.get(id);
    return entry === undefined ? this.get(id, body) : this.#kept(id, entry, await entry.renewed(body));
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
    const { now, mostUnknown } = this.#options;
    const excess = this.#excess(body?.address ?? "", new Date(now()));
    if (excess !== undefined) throw new KeysUnavailable(excess);
    const fresh = new FetchedValue(() => this.#fetch(id), this.#options);
    keep(this.#unknown, id, fresh, mostUnknown);
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

/** Where a platform may publish its keys. Both patterns are of the whole text, and linear. */
export interface AddressPin {
  /** Of the host, with its port where it is not 443. */
  readonly host: RegExp;
  readonly path: RegExp;
}

const MAX_URL_LENGTH = 512;

/**
 * Whether a URL that a stranger named may be asked: https, in the one spelling of the URL Standard, and of host and path
 * nothing but what the pin lists. So no user name, query, fragment, escaped dot or port hides in it.
 */
export function isPinned(url: string, { host, path }: AddressPin): boolean {
  const parsed = url.length > MAX_URL_LENGTH ? null : URL.parse(url);
  if (parsed === null || parsed.href !== url || parsed.protocol !== "https:") return false;
  return (
    host.test(parsed.host) && path.test(parsed.pathname) && `https://${parsed.host}${parsed.pathname}` === url
  );
}

export interface KeyRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The statuses by which the platform says that there is no such key, or what tells it from the response. */
  readonly absent?: readonly number[] | ((response: Response) => boolean | Promise<boolean>);
}

/**
 * One request for keys: bounded in time and size, without redirects.
 * @returns undefined where there is no such key
 * @throws Error for every status but 200 and those of absence, and where nothing responds
 */
export async function requestKeys(
  url: string,
  { absent = [], ...init }: KeyRequest = {},
): Promise<string | undefined> {
  const response = await boundedFetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const isAbsent =
    typeof absent === "function" ? await absent(response.clone()) : absent.includes(response.status);
  if (isAbsent) return undefined;
  if (response.status !== 200) throw new Error(`${new URL(url).origin} answers ${response.status}`);
  return response.text();
}
