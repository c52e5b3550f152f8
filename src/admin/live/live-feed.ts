import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { type CallbackFilter, matchesCallback } from "../../domain/index.ts";
import type { Caller } from "../access/authenticator.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { GapView, TallyView } from "../page-schemas.ts";
import { presentCallback } from "../present.ts";
import {
  formatPosition,
  type LogPosition,
  LogReader,
  MAX_COMMIT_DELAY_MS,
  type ReadCallback,
} from "./log-reader.ts";

const POLL_EVERY_MS = 500;
const TALLY_EVERY_MS = 2_000;
/** A session that ended on another process loses its streams within this time. */
const SESSIONS_EVERY_MS = 2_000;
const HEARTBEAT_EVERY_MS = 15_000;
const MAX_SUBSCRIBERS = 32;
/** Bodies may be long; between two batches the event loop runs other requests and flushes what was written. */
const BATCH_SIZE = 25;
/** Rows of one look; a flood of more is left out, and said to be. */
const MAX_ROWS_PER_POLL = 5_000;
const MAX_CATCH_UP_ROWS = 1_000;

/**
 * Callbacks as they are answered, by whatever process of this database, for those who listen. The database is asked once for
 * all of them, and only while there are subscribers.
 */
export class LiveFeed {
  readonly #deps: Pick<AdminDependencies, "store" | "clock" | "log">;
  readonly #subscribers = new Set<LiveSubscriber>();
  readonly #ending = new AbortController();
  #reader: Promise<LogReader> | undefined;
  #running: Promise<void> | undefined;
  #tally = newTally();
  #nextTallyAt = 0;
  #lastSentAt = 0;
  #nextSessionsAt = 0;
  #isFailing = false;

  constructor(deps: Pick<AdminDependencies, "store" | "clock" | "log">) {
    this.#deps = deps;
  }

  get hasRoom(): boolean {
    return this.#subscribers.size < MAX_SUBSCRIBERS && !this.#ending.signal.aborted;
  }

  /** @param from where it has been before, for what it has missed. @throws what the database throws */
  async add(listener: LiveSubscriber, from?: LogPosition): Promise<void> {
    this.#subscribers.add(listener);
    listener.closed.addEventListener("abort", () => this.#subscribers.delete(listener));
    try {
      this.#reader ??= this.#startReader();
      const reader = await this.#reader;
      if (from !== undefined) await this.#catchUp(listener, from, reader);
      listener.release();
      const counts = await this.#deps.store.failures.counts();
      listener.send(eventAt(reader, "tally", { ...newTally(), ...counts }));
    } catch (error) {
      listener.disconnect();
      throw error;
    }
  }

  endSession(idSha256: string): void {
    for (const listener of this.#subscribers)
      if (listener.session?.idSha256 === idSha256) listener.disconnect();
  }

  /** Ends all streams; resolves when the database is asked no more. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const listener of this.#subscribers) listener.end();
    await this.#running;
  }

  async #startReader(): Promise<LogReader> {
    try {
      const reader = await LogReader.atEnd(this.#deps.store.callbacks);
      this.#lastSentAt = performance.now();
      this.#nextTallyAt = this.#lastSentAt + TALLY_EVERY_MS;
      this.#running = this.#run(reader);
      return reader;
    } catch (error) {
      this.#reader = undefined;
      throw error;
    }
  }

  async #run(reader: LogReader): Promise<void> {
    const { signal } = this.#ending;
    while (this.#subscribers.size > 0 && !signal.aborted) {
      await sleep(POLL_EVERY_MS, undefined, { signal }).catch(() => {});
      try {
        await this.#endExpiredSessions();
        await this.#poll(reader);
        await this.#sendTally(reader);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing)
          this.#deps.log.warn({ err: error }, "live callbacks cannot be read; trying again");
        this.#isFailing = true;
      }
      if (performance.now() - this.#lastSentAt >= HEARTBEAT_EVERY_MS) this.#broadcast(": still here\n\n");
    }
    this.#reader = undefined;
    this.#tally = newTally();
  }

  /** Those whose time is over, and those that were ended by another process: the database is asked once for all listeners. */
  async #endExpiredSessions(): Promise<void> {
    const now = this.#deps.clock.now();
    const sessions = [...this.#subscribers].flatMap(({ session }) => session ?? []);
    const over = sessions.filter(({ expiresAt }) => expiresAt <= now);
    for (const { idSha256 } of over) this.endSession(idSha256);
    if (sessions.length === 0 || performance.now() < this.#nextSessionsAt) return;
    this.#nextSessionsAt = performance.now() + SESSIONS_EVERY_MS;
    const ids = [...new Set(sessions.map(({ idSha256 }) => idSha256))];
    const still = await this.#deps.store.sessions.among(ids, now);
    for (const id of ids) if (!still.has(id)) this.endSession(id);
  }

  async #poll(reader: LogReader): Promise<void> {
    for (let looked = 0; looked < MAX_ROWS_PER_POLL; looked += BATCH_SIZE) {
      const { read, isBehind } = await reader.next(BATCH_SIZE);
      for (const one of read) {
        const { outcomes } = this.#tally;
        this.#tally.callbacks += 1;
        outcomes[one.row.outcome] = (outcomes[one.row.outcome] ?? 0) + 1;
        const takers = [...this.#subscribers].filter((listener) => listener.takes(one));
        const text = takers.length > 0 ? callbackEvent(one) : "";
        for (const listener of takers) listener.send(text, one.row.id);
      }
      if (!isBehind || this.#subscribers.size === 0) return;
      await nextTurn();
    }
    const after = reader.position.newest;
    const [until = after] = await this.#deps.store.callbacks.newestIds(1);
    reader.skipTo(until);
    this.#tally.callbacks += until - after;
    this.#broadcast(eventAt(reader, "gap", { after, until }));
  }

  async #catchUp(listener: LiveSubscriber, from: LogPosition, reader: LogReader): Promise<void> {
    const before = reader.position;
    const [newest = 0] = await this.#deps.store.callbacks.newestIds(1);
    if (from.newest > newest) return listener.send(eventAt(reader, "gap", { after: null, until: newest }));
    const own = new LogReader(this.#deps.store.callbacks, from);
    let isBehind = true;
    for (let looked = 0; isBehind && looked < MAX_CATCH_UP_ROWS; looked += BATCH_SIZE) {
      const next = await own.next(BATCH_SIZE);
      for (const one of next.read) await listener.sendMissed(one);
      if (listener.closed.aborted) return;
      isBehind = next.isBehind;
    }
    listener.markSeen(own.position);
    const { newest: after, missing } = own.position;
    // What has still not come is looked for with all the rest, but for what the reader watched itself, and may have sent.
    reader.expect(missing.filter((id) => id <= before.newest && !before.missing.includes(id)));
    if (after < newest) listener.send(eventAt(reader, "gap", { after, until: newest }));
  }

  async #sendTally(reader: LogReader): Promise<void> {
    if (performance.now() < this.#nextTallyAt) return;
    const startedAt = performance.now();
    const counted = this.#tally;
    this.#tally = newTally();
    const counts = await this.#deps.store.failures.counts();
    this.#broadcast(eventAt(reader, "tally", { ...counted, ...counts }));
    const now = performance.now();
    // Where a million failures are counted, that is not all that the database has to do.
    this.#nextTallyAt = now + Math.max(TALLY_EVERY_MS - POLL_EVERY_MS / 2, (now - startedAt) * 20);
  }

  #broadcast(text: string): void {
    this.#lastSentAt = performance.now();
    for (const listener of this.#subscribers) listener.send(text);
  }
}

function newTally(): { callbacks: number; readonly outcomes: Record<string, number> } {
  return { callbacks: 0, outcomes: {} };
}

function callbackEvent({ row, position }: ReadCallback): string {
  return `id: ${position}\nevent: callback\ndata: ${JSON.stringify(presentCallback(row))}\n\n`;
}

/** Each event has the position, so that a client that sees few callbacks does not reconnect far behind. */
function eventAt({ position }: LogReader, name: "tally" | "gap", data: TallyView | GapView): string {
  return `id: ${formatPosition(position)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A client with more unread bytes, or with unread bytes for longer, is disconnected. */
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

  takes({ row }: ReadCallback): boolean {
    return matchesCallback(this.#filter, row);
  }

  /** A callback that came before it listened; resolves when there is room for the next one, or it was cut for not reading. */
  async sendMissed(one: ReadCallback): Promise<void> {
    if (this.closed.aborted || !this.takes(one)) return;
    if (this.#response.write(callbackEvent(one))) return;
    const stalled = setTimeout(() => this.disconnect(), MAX_UNREAD_MS);
    await once(this.#response, "drain", { signal: this.closed }).catch(() => {});
    clearTimeout(stalled);
  }

  /** What it has seen, here or before it came back: for so long as the others may still be told of it. */
  markSeen({ newest, missing }: LogPosition): void {
    this.#known = { newest, missing: new Set(missing), until: performance.now() + MAX_COMMIT_DELAY_MS };
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { id, text } of held) this.send(text, id);
  }

  end(): void {
    this.#closed.abort();
    this.#response.end();
  }

  disconnect(): void {
    this.#closed.abort();
    this.#response.destroy();
  }

  /** @param id of a callback */
  send(text: string, id?: number): void {
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
