import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type CallbackFilter, matchesCallback } from "../../domain/index.ts";
import type { Caller } from "../access/access.ts";
import type { LogPosition } from "./log-reader.ts";
import { MAX_COMMIT_DELAY_MS, type ReadCallback } from "./log-reader.ts";

/** In bytes; and how long there may be any. Who has more unread, or for longer, does not read, and is cut off. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
const MAX_UNREAD_MS = 10_000;

/** One open stream of server-sent events. Until it is released, what comes is held, so that what came before goes first. */
export class LiveSubscriber {
  /** By which it was let in; null with a token. */
  readonly session: Caller["session"];
  readonly #filter: CallbackFilter;
  readonly #response: ServerResponse;
  readonly #closed = new AbortController();
  #known:
    | { readonly newest: number; readonly missing: ReadonlySet<number>; readonly until: number }
    | undefined;
  #held: { readonly id: number | undefined; readonly text: string }[] | undefined = [];
  #heldLength = 0;
  #stalledSince: number | undefined;

  constructor(filter: CallbackFilter, response: ServerResponse, session: Caller["session"]) {
    this.session = session;
    this.#filter = filter;
    this.#response = response;
    response.once("close", () => this.#closed.abort());
    // A write to a client that just disconnected is no error.
    response.on("error", () => this.#closed.abort());
    response.on("drain", () => {
      this.#stalledSince = undefined;
    });
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** @param text the event, made once for all that listen */
  sendCallback({ row }: ReadCallback, text: () => string): void {
    if (matchesCallback(this.#filter, row)) this.#write(row.id, text());
  }

  send(text: string): void {
    this.#write(undefined, text);
  }

  /** A callback that came before it listened; resolves when there is room for the next one, or it was cut for not reading. */
  async sendMissed({ row }: ReadCallback, text: () => string): Promise<void> {
    if (this.closed.aborted || !matchesCallback(this.#filter, row)) return;
    if (this.#response.write(text())) return;
    const deaf = setTimeout(() => this.disconnect(), MAX_UNREAD_MS);
    await once(this.#response, "drain", { signal: this.closed }).catch(() => {});
    clearTimeout(deaf);
  }

  /** What it has seen, here or before it came back: for so long as the others may still be told of it. */
  markSeen({ newest, missing }: LogPosition): void {
    this.#known = { newest, missing: new Set(missing), until: performance.now() + MAX_COMMIT_DELAY_MS };
  }

  /** Lets through what was held, and from now on everything at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { id, text } of held) this.#write(id, text);
  }

  end(): void {
    this.#closed.abort();
    this.#response.end();
  }

  disconnect(): void {
    this.#closed.abort();
    this.#response.destroy();
  }

  #write(id: number | undefined, text: string): void {
    if (this.closed.aborted || (id !== undefined && this.#isKnown(id))) return;
    if (this.#held !== undefined) {
      this.#held.push({ id, text });
      this.#heldLength += text.length;
      if (this.#heldLength > MAX_UNREAD_BYTES) this.disconnect();
    } else if (this.#isStalled()) this.disconnect();
    else if (!this.#response.write(text)) this.#stalledSince ??= performance.now();
  }

  #isKnown(id: number): boolean {
    if (this.#known === undefined) return false;
    const { newest, missing, until } = this.#known;
    if (performance.now() > until) this.#known = undefined;
    return id <= newest && !missing.has(id);
  }

  #isStalled(): boolean {
    const fullFor = this.#stalledSince === undefined ? 0 : performance.now() - this.#stalledSince;
    return fullFor > MAX_UNREAD_MS || this.#response.writableLength > MAX_UNREAD_BYTES;
  }
}
