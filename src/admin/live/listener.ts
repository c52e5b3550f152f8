import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type CallbackFilter, matchesCallback } from "../../domain/index.ts";
import type { Caller } from "../access/access.ts";
import { LATE_MS, type ReadCallback } from "./log-reader.ts";
import type { Place } from "./place.ts";

/** In bytes; and how long there may be any. Who has more unread, or for longer, does not read, and is cut off. */
const MOST_UNREAD = 8 * 1024 * 1024;
const LONGEST_UNREAD_MS = 10_000;

/** One open stream of server-sent events. Until it is released, what comes is held, so that what came before goes first. */
export class Listener {
  /** By which it was let in; null with a token. */
  readonly session: Caller["session"];
  readonly #filter: CallbackFilter;
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  #known:
    | { readonly newest: number; readonly missing: ReadonlySet<number>; readonly until: number }
    | undefined;
  #held: { readonly id: number | undefined; readonly text: string }[] | undefined = [];
  #heldLength = 0;
  #fullSince: number | undefined;

  constructor(filter: CallbackFilter, response: ServerResponse, session: Caller["session"]) {
    this.session = session;
    this.#filter = filter;
    this.#response = response;
    response.once("close", () => this.#gone.abort());
    // A write to somebody who has just gone is nobody's mistake.
    response.on("error", () => this.#gone.abort());
    response.on("drain", () => {
      this.#fullSince = undefined;
    });
  }

  /** Aborted once the stream has ended, whoever ended it. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** @param text the event, made once for all that listen */
  callback({ row }: ReadCallback, text: () => string): void {
    if (matchesCallback(this.#filter, row)) this.#pass(row.id, text());
  }

  /** Anything that is no callback. */
  tell(text: string): void {
    this.#pass(undefined, text);
  }

  /** A callback that came before it listened; resolves when there is room for the next one, or it was cut for not reading. */
  async bringUp({ row }: ReadCallback, text: () => string): Promise<void> {
    if (this.gone.aborted || !matchesCallback(this.#filter, row)) return;
    if (this.#response.write(text())) return;
    const deaf = setTimeout(() => this.cut(), LONGEST_UNREAD_MS);
    await once(this.#response, "drain", { signal: this.gone }).catch(() => {});
    clearTimeout(deaf);
  }

  /** What it has seen, here or before it came back: for so long as the others may still be told of it. */
  knows({ newest, missing }: Place): void {
    this.#known = { newest, missing: new Set(missing), until: performance.now() + LATE_MS };
  }

  /** Lets through what was held, and from now on everything at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { id, text } of held) this.#pass(id, text);
  }

  end(): void {
    this.#gone.abort();
    this.#response.end();
  }

  cut(): void {
    this.#gone.abort();
    this.#response.destroy();
  }

  #pass(id: number | undefined, text: string): void {
    if (this.gone.aborted || (id !== undefined && this.#isKnown(id))) return;
    if (this.#held !== undefined) {
      this.#held.push({ id, text });
      this.#heldLength += text.length;
      if (this.#heldLength > MOST_UNREAD) this.cut();
    } else if (this.#isDeaf()) this.cut();
    else if (!this.#response.write(text)) this.#fullSince ??= performance.now();
  }

  #isKnown(id: number): boolean {
    if (this.#known === undefined) return false;
    const { newest, missing, until } = this.#known;
    if (performance.now() > until) this.#known = undefined;
    return id <= newest && !missing.has(id);
  }

  #isDeaf(): boolean {
    const fullFor = this.#fullSince === undefined ? 0 : performance.now() - this.#fullSince;
    return fullFor > LONGEST_UNREAD_MS || this.#response.writableLength > MOST_UNREAD;
  }
}
