import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Book } from "./book.ts";
import type { Chance } from "./chance.ts";

export interface PlatformRules {
  /** Where the receivers listen; each request goes to one of them. */
  readonly origins: readonly string[];
  /** Requests at a time. */
  readonly connections: number;
  /** How often each event is sent whatever is answered. */
  readonly copies?: number;
  /** How much of what was answered 200 is sent once more. */
  readonly redelivered?: number;
  /** New events a second; as many as the receivers take where it is not given. */
  readonly rate?: number;
}

const PATH = "/api/platform/callback";
/** A receiver that is down refuses at once; a platform then waits a little. */
const PAUSE_MS = [10, 150] as const;
const ANSWER_LIMIT_MS = 20_000;

/**
 * The platform: sends signed events at full speed, sends again whatever was not answered 200 and some of what was, and
 * writes down each answer.
 */
export class Platform {
  readonly #rules: PlatformRules;
  readonly #book: Book;
  readonly #chance: Chance;
  readonly #pools: readonly Pool[];
  /** Numbers of events to send again, in no order. */
  readonly #again: number[] = [];
  /** Sendings that wait for their pause or their answer. */
  #atWork = 0;
  #mayBegin: () => boolean = () => false;
  #begun = 0;
  #since = 0;

  constructor(rules: PlatformRules, book: Book, chance: Chance) {
    this.#rules = rules;
    this.#book = book;
    this.#chance = chance;
    const limits = { headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: ANSWER_LIMIT_MS };
    this.#pools = rules.origins.map((origin) => new Pool(origin, { connections: rules.connections, ...limits }));
  }

  /**
   * Sends new events while `mayBegin` says so, and then the old ones until each is acknowledged.
   * @throws Error when that does not come to an end, naming some that are left
   */
  async run(mayBegin: () => boolean, settleMs = 120_000): Promise<void> {
    this.#mayBegin = mayBegin;
    this.#since = performance.now();
    const settled = new AbortController();
    const workers = Array.from({ length: this.#rules.connections }, () => this.#work(settled.signal));
    const ended = Promise.all(workers).then(() => true);
    while (mayBegin()) await sleep(20);
    const isSettled = await Promise.race([ended, sleep(settleMs, false, { ref: false })]);
    settled.abort();
    await ended;
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
    if (!isSettled) throw new Error(`not acknowledged after ${settleMs} ms: ${this.#left().join(", ")}`);
  }

  #left(): string[] {
    return this.#book.pages
      .flatMap(({ isAcknowledged }, number) => (isAcknowledged ? [] : [this.#book.idOf(number)]))
      .slice(0, 10);
  }

  async #work(settled: AbortSignal): Promise<void> {
    while (!settled.aborted) {
      const number = this.#next();
      if (number === undefined) {
        if (!this.#mayBegin() && this.#atWork === 0 && this.#again.length === 0) return;
        await sleep(5);
        continue;
      }
      this.#atWork += 1;
      await this.#deliver(number);
      this.#atWork -= 1;
    }
  }

  /** Old events and new ones in turn, so that neither starves. */
  #next(): number | undefined {
    const isDue = this.#mayBegin() && this.#begun < this.#planned();
    const old = this.#again.length;
    if (old > 0 && (!isDue || this.#chance.is(0.5) || old > 5_000)) {
      const at = this.#chance.below(old);
      const last = this.#again.pop();
      if (at === this.#again.length) return last;
      const number = this.#again[at];
      if (last !== undefined) this.#again[at] = last;
      return number;
    }
    if (!isDue) return undefined;
    const { number } = this.#book.open();
    this.#begun += 1;
    for (let copies = 1; copies < (this.#rules.copies ?? 1); copies += 1) this.#again.push(number);
    return number;
  }

  #planned(): number {
    const { rate = Number.POSITIVE_INFINITY } = this.#rules;
    return (rate * (performance.now() - this.#since)) / 1000;
  }

  async #deliver(number: number): Promise<void> {
    const { body, signature } = this.#book.event(number);
    const headers = { "content-type": "application/json", "x-signature": signature };
    this.#book.sending(number);
    try {
      const pool = this.#chance.pick(this.#pools);
      const response = await pool.request({ method: "POST", path: PATH, headers, body });
      const text = await response.body.text();
      const reaction = this.#book.answered(number, { status: response.statusCode, text });
      if (reaction === "acknowledged") {
        if (this.#chance.is(this.#rules.redelivered ?? 0.05)) this.#again.push(number);
        return;
      }
      if (reaction === "wrong") return;
    } catch (error) {
      this.#book.unanswered(codeOf(error));
    }
    await sleep(this.#chance.between(...PAUSE_MS));
    this.#again.push(number);
  }
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
