import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import type { Book } from "./book.ts";

/** What platforms publish of their deliveries: how long they wait, how they retry, and when they give an endpoint up. */
export interface DeliveryRules {
  /** A delivery that has no complete response by then is cut, and has failed. */
  readonly deadlineMs: number;
  /** The pauses before an event's redeliveries; the last one repeats. */
  readonly retryMs: readonly [number, ...number[]];
  /** So many deliveries in a row that failed, of whatever events, disable the endpoint for good. */
  readonly disabledAfter: number;
  /** Queues of events: each delivers one event at a time, and the next one once that has succeeded. */
  readonly queues: number;
  /** From one new event to the next. */
  readonly everyMs: number;
}

const FIRST_CREATED = 1_767_225_600;

/** The platform sends nothing any more: what a receiver must never bring about. */
export class EndpointDisabled extends Error {
  override readonly name = "EndpointDisabled";
}

/** A platform that keeps to published rules; events are Stripe's, signed as the source signs. */
export class StrictPlatform {
  readonly #rules: DeliveryRules;
  readonly #book: Book;
  readonly #source: SourceDefinition;
  readonly #path: string;
  readonly #pool: Pool;
  #due = 0;
  #failuresInARow = 0;
  readonly #seen = { failed: 0, mostInARow: 0, longestMs: 0 };

  constructor(address: URL, source: SourceDefinition, book: Book, rules: DeliveryRules) {
    this.#rules = rules;
    this.#book = book;
    this.#source = source;
    this.#path = address.pathname;
    this.#pool = new Pool(address.origin, { connections: rules.queues });
  }

  /** Failed deliveries, the most of them in a row, and the longest delivery that succeeded. */
  get seen(): Readonly<{ failed: number; mostInARow: number; longestMs: number }> {
    return this.#seen;
  }

  /** Delivers so many events until each has succeeded. @throws EndpointDisabled */
  async run(events: number): Promise<void> {
    this.#due = performance.now();
    try {
      await Promise.all(Array.from({ length: this.#rules.queues }, () => this.#workQueue(events)));
    } finally {
      await this.#pool.destroy();
    }
  }

  async #workQueue(events: number): Promise<void> {
    while (this.#book.pages.length < events) {
      const { number } = this.#book.open();
      const now = performance.now();
      this.#due = Math.max(this.#due + this.#rules.everyMs, now);
      await sleep(this.#due - now);
      for (let tries = 0; !(await this.#deliver(number)); tries += 1) {
        const { retryMs } = this.#rules;
        await sleep(retryMs[Math.min(tries, retryMs.length - 1)]);
      }
    }
  }

  /** @returns whether it succeeded */
  async #deliver(number: number): Promise<boolean> {
    this.#assertEnabled();
    const begun = performance.now();
    const isDelivered = await this.#request(number);
    if (isDelivered) {
      this.#failuresInARow = 0;
      this.#seen.longestMs = Math.max(this.#seen.longestMs, performance.now() - begun);
      return true;
    }
    this.#failuresInARow += 1;
    this.#seen.failed += 1;
    this.#seen.mostInARow = Math.max(this.#seen.mostInARow, this.#failuresInARow);
    this.#assertEnabled();
    return false;
  }

  #assertEnabled(): void {
    if (this.#seen.mostInARow < this.#rules.disabledAfter) return;
    const answers = [...this.#book.answers].map(([what, count]) => `${count} × ${what}`).join(", ");
    throw new EndpointDisabled(`${this.#rules.disabledAfter} deliveries in a row have failed; seen: ${answers}`);
  }

  async #request(number: number): Promise<boolean> {
    const id = this.#book.idOf(number);
    const data = { object: this.#book.entryOf(number) };
    const created = FIRST_CREATED + number;
    const body = Buffer.from(JSON.stringify({ id, object: "event", type: this.#book.type, created, data }));
    const signed = this.#source.sign?.({ body, now: new Date() });
    const headers = { "content-type": "application/json", ...signed };
    const signal = AbortSignal.timeout(this.#rules.deadlineMs);
    this.#book.sending(number);
    try {
      const response = await this.#pool.request({ method: "POST", path: this.#path, headers, body, signal });
      const text = await response.body.text();
      return this.#book.answered(number, { status: response.statusCode, text }) === "acknowledged";
    } catch (error) {
      this.#book.unanswered(signal.aborted ? "cut at the deadline" : String(error));
      return false;
    }
  }
}
