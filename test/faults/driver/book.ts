import { createHmac } from "node:crypto";

/** One event as the platform sends it, made from its number alone, so that no body has to be kept. */
export interface Event {
  readonly number: number;
  readonly id: string;
  readonly body: Buffer;
  readonly signature: string;
}

/** What the platform knows of one event. */
export interface Page {
  /** How often it was sent. */
  sent: number;
  /** Answers of `success`; more than one would mean two effects. */
  successes: number;
  isAcknowledged: boolean;
  /** The `data` of the success, as JSON; undefined where that answer was lost. */
  result: string | undefined;
}

/** What an event moves, and between which accounts. */
export interface Entry {
  readonly from: string;
  readonly to: string;
  readonly cents: number;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** What the platform makes of one answer. */
export type Reaction = "acknowledged" | "again" | "wrong";

/** After these a platform sends the event again: the receiver's faults, a balancer's, overload, and slow requests. */
const AGAIN = new Set([408, 429, 500, 502, 503]);
const ACCOUNTS = 16;

/** The platform's own book: what it sent, and what it was told of it. */
export class Book {
  readonly pages: Page[] = [];
  /** Answers by what they say, and requests without one by their error's code. */
  readonly answers = new Map<string, number>();
  /** Answers that no event of a platform deserves. */
  readonly wrong: string[] = [];
  readonly #name: string;
  readonly type: string;
  readonly #secret: string;
  readonly #mayBeAccepted: boolean;
  #acknowledged = 0;

  /**
   * @param name begins each id, so that several books fit into one database
   * @param rules `mayBeAccepted`: the source may answer before its handler has committed
   */
  constructor(name: string, type: string, secret: string, { mayBeAccepted = false } = {}) {
    this.#name = name;
    this.type = type;
    this.#secret = secret;
    this.#mayBeAccepted = mayBeAccepted;
  }

  /** How many events were answered 200 at least once. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  get sent(): number {
    return this.pages.reduce((count, { sent }) => count + sent, 0);
  }

  idOf(number: number): string {
    return `${this.#name}-${number}`;
  }

  /** Undefined where the id is not of this book. */
  numberOf(id: string): number | undefined {
    return id.startsWith(`${this.#name}-`) ? Number(id.slice(this.#name.length + 1)) : undefined;
  }

  /** A new event, with its page. */
  open(): Event {
    const number = this.pages.length;
    this.pages.push({ sent: 0, successes: 0, isAcknowledged: false, result: undefined });
    return this.event(number);
  }

  entryOf(number: number): Entry {
    const from = number % ACCOUNTS;
    const to = (from + 1 + ((Math.imul(number, 2_654_435_761) >>> 0) % (ACCOUNTS - 1))) % ACCOUNTS;
    return { from: `account-${from}`, to: `account-${to}`, cents: 1 + (number % 997) };
  }

  event(number: number): Event {
    const body = Buffer.from(
      JSON.stringify({
        event_id: this.idOf(number),
        event_type: this.type,
        timestamp: 1_767_225_600 + number,
        data: this.entryOf(number),
      }),
    );
    const signature = createHmac("sha256", this.#secret).update(body).digest("hex");
    return { number, id: this.idOf(number), body, signature };
  }

  sending(number: number): void {
    this.#page(number).sent += 1;
  }

  answered(number: number, { status, text }: Answer): Reaction {
    const page = this.#page(number);
    if (status !== 200) {
      this.#count(String(status));
      if (AGAIN.has(status)) return "again";
      this.wrong.push(`${this.idOf(number)}: ${status} ${text}`);
      return "wrong";
    }
    const said = JSON.parse(text) as { status: string; data?: unknown };
    this.#count(`200 ${said.status}`);
    if (text !== this.#expected(number, said.status)) {
      this.wrong.push(`${this.idOf(number)}: 200 ${text}`);
      return "wrong";
    }
    this.acknowledge(number);
    if (said.status === "success") {
      page.successes += 1;
      page.result = JSON.stringify(said.data);
    }
    return "acknowledged";
  }

  /** The only answers that acknowledge an event, character for character. */
  #expected(number: number, status: string): string {
    const data = { posted: this.idOf(number), cents: this.entryOf(number).cents };
    if (status === "success") return JSON.stringify({ status, data });
    const isAccepted = this.#mayBeAccepted && status === "accepted";
    return JSON.stringify({ status: isAccepted ? status : "already_processed" });
  }

  /** The event was answered with success, whatever the answer said of it: a batch has one answer for all. */
  acknowledge(number: number): void {
    const page = this.#page(number);
    if (!page.isAcknowledged) this.#acknowledged += 1;
    page.isAcknowledged = true;
  }

  /** No answer came: the connection was refused, or cut. */
  unanswered(code: string): void {
    this.#count(code);
  }

  #count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
  }

  #page(number: number): Page {
    const page = this.pages[number];
    if (page === undefined) throw new Error(`there is no event ${number}`);
    return page;
  }
}
